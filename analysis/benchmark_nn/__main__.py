"""Run the script: ``python -m analysis.benchmark_nn``."""

from analysis.benchmark_nn import main

if __name__ == "__main__":
    raise SystemExit(main())
