"""``python -m cayleygsp.cli`` is ``cayleygsp``."""

import sys

from cayleygsp.cli import main

if __name__ == "__main__":
    sys.exit(main())
