"""A result as a document: how it came about, and the page that says so."""

from __future__ import annotations

import argparse
import os
import platform
import shlex
from collections.abc import Sequence
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from cayleygsp._memory import format_bytes
from cayleygsp.engine.threads import thread_limit

Document = dict[str, Any]

PACKAGES = ("cayleygsp", "numpy", "scipy", "numba", "pygsp", "torch", "torch_geometric")

THREAD_SETTINGS = ("NUMBA_NUM_THREADS", "NUMBA_THREADING_LAYER", "OMP_WAIT_POLICY", "GOMP_SPINCOUNT")


def machine_facts() -> dict[str, Any]:
    """Return what the figures depend on: processor, cores, threads, caches and memory."""
    return {
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "threads": thread_limit(),
        "thread_settings": {name: os.environ[name] for name in THREAD_SETTINGS if name in os.environ},
        "load_average": os.getloadavg()[0],
        "last_level_cache_bytes": last_level_cache(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "system": f"{platform.system()} {platform.machine()}",
    }


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown"
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown"


def last_level_cache() -> int:
    """Return the bytes of the largest cache that the first core sees; 32 MiB where the system does not tell."""
    units = {"K": 2**10, "M": 2**20, "G": 2**30}
    sizes = []
    for path in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size"):
        text = path.read_text(encoding="ascii").strip()
        sizes.append(int(text[:-1]) * units[text[-1]] if text[-1] in units else int(text))
    return max(sizes, default=2**25)


def package_versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that the figures depend on."""
    versions = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "not installed"
    return versions


def now() -> str:
    """Return date and time as they stand in results."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


def new_document(module: str, argv: Sequence[str], args: argparse.Namespace) -> Document:
    """Return the part of a result that says how it came about."""
    return {
        "command": shlex.join(["python", "-m", module, *argv]),
        "date": now(),
        "seed": args.seed,
        "quick": args.quick,
        "machine": machine_facts(),
        "versions": package_versions(),
    }


def header_lines(document: Document) -> list[str]:
    """Say in Markdown how a result came about."""
    machine = document["machine"]
    facts = {
        "Command": f"`{document['command']}`",
        "Date": document["date"],
        "CPU": f"{machine['cpu']}, {machine['cores']} cores, {machine['threads']} threads, last-level cache "
        f"{format_bytes(machine['last_level_cache_bytes'])}, load average at the start {machine['load_average']:.2f}",
        "Thread settings": ", ".join(f"{k}={v}" for k, v in machine["thread_settings"].items()) or "defaults",
        "Memory": format_bytes(machine["memory_bytes"]),
        "System": machine["system"],
        "Versions": ", ".join(f"{name} {number}" for name, number in document["versions"].items()),
        "Seed": str(document["seed"]),
    }
    lines = [f"- {name}: {value}" for name, value in facts.items()]
    return [*lines, "- Quick run: sizes are small, ratios mean little."] if document["quick"] else lines


def page(title: str, document: Document, *lines: str, facts: Sequence[str] = ()) -> str:
    """Return a page of Markdown: a title, how the result came about, and what it says.

    Parameters
    ----------
    title : str
        The heading.
    document : dict
        The result.
    *lines : str
        What follows.
    facts : sequence of str
        More lines of how it came about.
    """
    return "\n".join([f"# {title}", "", *header_lines(document), *facts, "", *lines]).rstrip() + "\n"
