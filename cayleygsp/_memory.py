"""How much memory there is."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_PROC = Path("/proc")
_CGROUP = Path("/sys/fs/cgroup")


def available_memory() -> int | None:
    """Return the bytes that this process can have without swapping; None where the system does not tell.

    It is the least of what the machine has, what the container may use, and what the limit of the process
    (``ulimit -v``) leaves.
    """
    known = [*_machine(), *_container(), *_process()]
    return max(0, min(known)) if known else None


def fits(n_bytes: float, available: int | None) -> bool:
    """Return whether there is room for more than so many bytes, or it is not known how much there is."""
    return available is None or n_bytes < available


def _machine() -> Iterator[int]:
    """Yield what the machine has free, or half of all that it has, if the system tells."""
    try:
        with open(_PROC / "meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    yield int(line.split()[1]) * 1024
                    return
    except OSError:
        pass
    try:
        yield os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, ValueError, OSError):
        return


def _container() -> Iterator[int]:
    """Yield what the control group leaves, if there is one with a limit; files in the cache are not counted."""
    for limit, usage, cache in (
        ("memory.max", "memory.current", "inactive_file"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "total_inactive_file"),
    ):
        try:
            most = int((_CGROUP / limit).read_text(encoding="ascii"))
            used = int((_CGROUP / usage).read_text(encoding="ascii"))
            stat = (_CGROUP / limit).with_name("memory.stat").read_text(encoding="ascii")
            reclaimable = dict(line.split() for line in stat.splitlines()).get(cache, "0")
        except (OSError, ValueError):
            continue
        yield most - used + int(reclaimable)


def _process() -> Iterator[int]:
    """Yield what the limit of the address space leaves, if there is one."""
    try:
        import resource

        most = resource.getrlimit(resource.RLIMIT_AS)[0]
        if most != resource.RLIM_INFINITY:
            pages = int((_PROC / "self" / "statm").read_text(encoding="ascii").split()[0])
            yield most - pages * os.sysconf("SC_PAGE_SIZE")
    except (ImportError, OSError, ValueError):
        return


def format_bytes(n_bytes: float) -> str:
    """Write a number of bytes for people."""
    units = ("bytes", "KiB", "MiB", "GiB", "TiB")
    power = max((k for k in range(len(units)) if n_bytes >= 1024**k), default=0)
    return f"{n_bytes / 1024**power:.3g} {units[power]}"
