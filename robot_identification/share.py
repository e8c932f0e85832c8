"""Location of the data of this package: launch, config, msg, srv."""

import sys
from pathlib import Path

NAME = "robot_identification"


def share_directory() -> Path:
    """Return the share folder: of the checkout, else of the installation."""
    root = Path(__file__).resolve().parents[1]
    if (root / "package.xml").is_file():
        return root
    try:
        from ament_index_python.packages import get_package_share_directory

        return Path(get_package_share_directory(NAME))
    except (ImportError, LookupError, OSError):
        return Path(sys.prefix, "share", NAME)
