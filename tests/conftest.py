"""Settings of hypothesis for all tests: no deadline, the same examples on every run."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "cayleygsp", deadline=None, derandomize=True, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("cayleygsp")
