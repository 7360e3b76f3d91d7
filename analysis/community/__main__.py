"""Run the script: ``python -m analysis.community``."""

from analysis.community import main

if __name__ == "__main__":
    raise SystemExit(main())
