"""YAML text of result files; :mod:`robot_identification.robot.files.document` reads them."""

from __future__ import annotations

from typing import Any

import yaml


class ResultDumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    """The safe dumper of YAML, which writes out what stands in several places."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 (as in the class above)
        """Return that no alias is ever written."""
        return True
