"""`python -m miles_tui`."""

import sys

from miles_tui.cli import program

if __name__ == "__main__":
    sys.exit(program())
