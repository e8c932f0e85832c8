"""Location of the data of this package: launch, config, docs."""

import sys
from pathlib import Path

NAME = "robot_identification"


def share_directory() -> Path:
    """Return the share folder: of the checkout, else of the installation that this module is in.

    The index of ROS is asked last: in a shell that has sourced another installation, or none, it
    tells of another folder, or of none.
    """
    own = Path(__file__).resolve()
    root = own.parents[1]
    if (root / "package.xml").is_file():
        return root
    for prefix in own.parents:
        if (prefix / "share" / NAME / "config").is_dir():
            return prefix / "share" / NAME
    try:
        from ament_index_python.packages import get_package_share_directory

        return Path(get_package_share_directory(NAME))
    except (ImportError, LookupError, OSError):
        return Path(sys.prefix, "share", NAME)
