"""``python -m analysis.report``."""

from analysis.report.script import main

if __name__ == "__main__":
    raise SystemExit(main())
