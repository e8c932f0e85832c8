"""The command line as ``python -m robot_identification``, where its script is not on the path."""

import sys

from robot_identification.cli import start

if __name__ == "__main__":
    sys.exit(start())
