"""Settings for all tests: one thread for each library of linear algebra, and those of hypothesis."""

import os

# Small matrices gain nothing from threads, whose waiting takes processors from the other workers. The libraries read
# these when they are loaded, and programs that tests start inherit them; the package's own threads are as always.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

from hypothesis import HealthCheck, settings  # noqa: E402

settings.register_profile(
    "cayleygsp", deadline=None, derandomize=True, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("cayleygsp")
