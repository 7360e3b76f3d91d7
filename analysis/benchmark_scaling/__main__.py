"""Run the script: ``python -m analysis.benchmark_scaling``."""

from analysis.benchmark_scaling import main

if __name__ == "__main__":
    raise SystemExit(main())
