"""Memory of this process: now, and at its peak while something is done."""

from __future__ import annotations

import ctypes
import gc
import resource
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import cayleygsp as cg
from cayleygsp._typing import FloatArray

if TYPE_CHECKING:
    pass


def _status_bytes(field: str) -> int | None:
    """Return a line of the system's account of this process."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    values = [int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:")]
    return values[0] if values else None


def _largest_ever() -> int:
    """Return the largest memory of this process since its start."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def return_memory(*, always: bool = False) -> None:
    """Give freed memory back to the system, where the C library can; with ``always``, large pieces from now on."""
    gc.collect()
    try:
        library = ctypes.CDLL(None)
        if always:
            library.mallopt(-3, 65536)  # M_MMAP_THRESHOLD: what is larger is mapped, and unmapped when freed
        library.malloc_trim(0)
    except (AttributeError, OSError, TypeError):
        pass


class MemoryPeak:
    """The largest memory of this process while something is done, and the memory before.

    Linux can reset its record of the peak; elsewhere only a peak above all earlier ones is seen.

    Attributes
    ----------
    before, peak : int
        Bytes.
    how : str
        "reset peak" or "largest ever".
    """

    def __enter__(self) -> MemoryPeak:
        return_memory()
        try:
            Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
            self.how = "reset peak"
        except OSError:
            self.how = "largest ever"
        now = _status_bytes("VmRSS")
        self.before = _largest_ever() if now is None or self.how == "largest ever" else now
        self.peak = self.before
        return self

    def __exit__(self, *error: object) -> None:
        peak = _status_bytes("VmHWM") if self.how == "reset peak" else None
        self.peak = max(_largest_ever() if peak is None else peak, self.before)

    @property
    def beyond(self) -> int:
        """Bytes of the peak beyond what was there before."""
        return self.peak - self.before


def filter_memory(g: cg.GraphFilter, f: FloatArray) -> MemoryPeak:
    """Return the memory of one filter call, its result included; slows down what is timed later."""
    return_memory(always=True)
    with MemoryPeak() as memory:
        g.filter(f)
    return memory


def memory_in_use() -> int:
    """Return the memory of this process; the largest since its start where the system does not tell."""
    return _status_bytes("VmRSS") or _largest_ever()
