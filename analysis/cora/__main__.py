"""Run the script: ``python -m analysis.cora``."""

from analysis.cora import main

if __name__ == "__main__":
    raise SystemExit(main())
