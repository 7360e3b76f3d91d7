"""Judge random hostile cases in all cores, print how often each claim was judged and false, and what was false."""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from rich.progress import track

from tests.adversary.claims import JUDGES, Verdict, judge


def judged(seeds: range) -> list[tuple[int, list[Verdict] | str]]:
    """Return the verdicts of some seeds, or the error in a foreign tongue that one ended with."""
    found: list[tuple[int, list[Verdict] | str]] = []
    for seed in seeds:
        try:
            found.append((seed, judge(seed)))
        except Exception as error:  # what is no clear refusal is a finding itself
            found.append((seed, f"{JUDGES[seed % len(JUDGES)].__name__}: {type(error).__name__}: {error}"))
    return found


def all_judged(first: int, n: int, workers: int) -> Iterator[tuple[int, list[Verdict] | str]]:
    """Yield what came of all seeds, in parts of 40."""
    parts = [range(k, min(k + 40, first + n)) for k in range(first, first + n, 40)]
    with ProcessPoolExecutor(workers) as pool:
        for part in track(pool.map(judged, parts), total=len(parts), description="judging"):
            yield from part


def table(results: Iterable[tuple[int, Any]]) -> tuple[list[list[str]], list[str]]:
    """Return a row per claim and basis, with how often it was judged and broken, and a line per violation."""
    counts: Counter[tuple[str, str]] = Counter()
    broken: Counter[tuple[str, str]] = Counter()
    lines = []
    for seed, verdicts in results:
        if isinstance(verdicts, str):
            counts["errors that name no argument", ""] += 1
            broken["errors that name no argument", ""] += 1
            lines.append(f"seed {seed}: {verdicts}")
            continue
        for one in verdicts:
            key = one.claim, one.basis
            counts[key] += 1
            if not one.holds:
                broken[key] += 1
                lines.append(
                    f"seed {seed}: {one.claim} ({one.basis}): told {one.told:.17g}, true {one.true:.17g}; {one.text}"
                )
    return [[*key, f"{counts[key]:,}", f"{broken[key]:,}"] for key in sorted(counts)], lines


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.adversary", description=__doc__)
    parser.add_argument("n", type=int, help="how many cases")
    parser.add_argument("--first", type=int, default=0, help="the first seed (default: %(default)s)")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes (default: one per core)")
    args = parser.parse_args()
    rows, lines = table(all_judged(args.first, args.n, args.workers))
    header = ["claim", "basis", "judged", "false"]
    widths = [max(len(row[k]) for row in [header, *rows]) for k in range(4)]
    for row in [header, *rows]:
        print("{:<{}}  {:<{}}  {:>{}}  {:>{}}".format(*(one for pair in zip(row, widths, strict=True) for one in pair)))
    print("\n".join(lines[:200]))


if __name__ == "__main__":
    main()
