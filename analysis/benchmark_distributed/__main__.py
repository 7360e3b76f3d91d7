"""Run the script: ``python -m analysis.benchmark_distributed``."""

from analysis.benchmark_distributed import main

if __name__ == "__main__":
    raise SystemExit(main())
