"""Run the script: ``python -m analysis.benchmark_peers``."""

from analysis.benchmark_peers import main

if __name__ == "__main__":
    raise SystemExit(main())
