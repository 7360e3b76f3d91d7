"""Settings of hypothesis for all tests: no deadline, the same examples on every run; and where data sets are."""

import os
from pathlib import Path

from hypothesis import HealthCheck, settings

settings.register_profile(
    "cayleygsp", deadline=None, derandomize=True, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("cayleygsp")

# Data sets beside the repository are used; tests never download.
DATA = Path(__file__).parents[2] / "shared" / "data"
if DATA.is_dir():
    os.environ.setdefault("CAYLEYGSP_DATA", str(DATA))
