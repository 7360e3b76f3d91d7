"""Run the script: ``python -m analysis.complexity``."""

from analysis.complexity import main

if __name__ == "__main__":
    raise SystemExit(main())
