"""How much memory there is."""

from __future__ import annotations

import os


def available_memory() -> int:
    """Return the bytes that can be had without swapping; a huge number where the system does not tell."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, ValueError, OSError):
        return 2**62


def format_bytes(n_bytes: float) -> str:
    """Write a number of bytes for people."""
    units = ("bytes", "KiB", "MiB", "GiB", "TiB")
    power = max((k for k in range(len(units)) if n_bytes >= 1024**k), default=0)
    return f"{n_bytes / 1024**power:.3g} {units[power]}"
