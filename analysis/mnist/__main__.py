"""Run the script: ``python -m analysis.mnist``."""

from analysis.mnist import main

if __name__ == "__main__":
    raise SystemExit(main())
