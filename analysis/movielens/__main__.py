"""Run the script: ``python -m analysis.movielens``."""

from analysis.movielens import main

if __name__ == "__main__":
    raise SystemExit(main())
