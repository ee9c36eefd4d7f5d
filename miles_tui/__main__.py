"""`python -m miles_tui`."""

import sys

from miles_tui.cli import main

if __name__ == "__main__":
    sys.exit(main())
