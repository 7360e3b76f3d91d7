"""Settings for all tests: one thread per library of linear algebra, those of hypothesis, where data sets are."""

import fcntl
import gc
import os
import sys
from contextlib import contextmanager, suppress
from pathlib import Path

# Small matrices gain nothing from threads, whose waiting takes processors from the other workers. The libraries read
# these when they are loaded, and programs that tests start inherit them; the package's own threads are as always.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import pytest  # noqa: E402
from hypothesis import HealthCheck, settings  # noqa: E402

settings.register_profile(
    "cayleygsp", deadline=None, derandomize=True, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("cayleygsp")

# Data sets beside the repository are used; tests never download.
DATA = Path(__file__).parents[2] / "shared" / "data"
if DATA.is_dir():
    os.environ.setdefault("CAYLEYGSP_DATA", str(DATA))


def pytest_configure(config: pytest.Config) -> None:
    # a filter in pyproject.toml would load scipy, and numpy with it, before their threads are counted above
    config.addinivalue_line("filterwarnings", "ignore::scipy.sparse.SparseEfficiencyWarning:pygsp.*")


# The tests of the scripts are collected first, and load nearly every package that there is.
SCRIPTS = Path(__file__).parent / "analysis"
_turn_of_this = []  # the locked file, while others wait


@contextmanager
def _turn(session: pytest.Session):
    """Let workers collect one behind the other in a new environment, where the first one translates all packages.

    Side by side each would translate two million lines; the others read what the first one wrote. They begin when it
    has collected the tests of the scripts.
    """
    stamp = None
    if hasattr(session.config, "workerinput") and sys.prefix != sys.base_prefix:
        with suppress(OSError):
            stamp = (Path(sys.prefix) / ".collected").open("a+", encoding="utf-8")
    if stamp is None:
        yield
        return
    with stamp:
        fcntl.flock(stamp, fcntl.LOCK_EX)
        stamp.seek(0)
        if stamp.read():
            fcntl.flock(stamp, fcntl.LOCK_UN)
            yield
            return
        _turn_of_this.append(stamp)
        yield
        stamp.write("all tests have been collected once\n")


def pytest_collectstart(collector: pytest.Collector) -> None:
    if _turn_of_this and isinstance(collector, pytest.Module) and SCRIPTS not in collector.path.parents:
        fcntl.flock(_turn_of_this.pop(), fcntl.LOCK_UN)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session):
    gc.disable()  # almost everything that is made stays
    try:
        with _turn(session):
            return (yield)
    finally:
        gc.enable()


def pytest_collection_finish(session: pytest.Session) -> None:
    # thousands of tests and all that they import stay until the end: collecting garbage need not look at them
    gc.freeze()


def pytest_runtest_setup(item: pytest.Item) -> None:
    # numba's threads, when they start, give torch as many, which wait for each other in every small sum
    torch = sys.modules.get("torch")
    if torch is not None and torch.get_num_threads() > 1:
        torch.set_num_threads(1)


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the figures of reports and do not draw them, for tests of words and numbers."""
    from cayleygsp._html import Picture

    def from_figure(cls, name, figure, alt, caption, *, shrinks=False):
        assert figure.axes
        return cls(name, b"", alt, caption, shrinks)

    monkeypatch.setattr(Picture, "from_figure", classmethod(from_figure))
