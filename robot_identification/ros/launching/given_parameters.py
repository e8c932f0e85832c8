"""The parameter file that is given to a launch: checked before anything starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robot_identification.robot.files.schema import suggestion
from robot_identification.ros.common.parameters.files import (
    Section,
    is_of_ros,
    read_parameters,
    shipped_parameters,
)


@dataclass(frozen=True)
class GivenParameters:
    """Content of a parameter file for the nodes of a launch.

    Attributes:
        sections: of the file, in its order.
    """

    sections: tuple[Section, ...]

    @classmethod
    def read(cls, path: str | Path) -> GivenParameters:
        """Read a file.

        Raises:
            RobotDescriptionError: it cannot be read, or is no parameter file; with its line.
        """
        return cls(read_parameters(path))

    def check(self, nodes: Mapping[str, str]) -> None:
        """Refuse sections and parameters that are for none of some nodes.

        Args:
            nodes: full name -> executable.

        Raises:
            RobotDescriptionError: there is one; with its line, and what may have been meant.
        """
        for section in self.sections:
            concerned = {executable for name, executable in nodes.items() if section.concerns(name)}
            if not concerned:
                hint = suggestion(section.pattern, nodes) or f"; it starts {', '.join(nodes)}"
                raise section.error(f"{section.pattern} is no node that this launch starts{hint}")
            known = {name for node in concerned for name in shipped_parameters(node)}
            for name, value in section.values.items():
                if value is None:
                    raise section.error('no value; an empty text is ""', name)
                if name not in known and not is_of_ros(name):
                    hint = suggestion(name, known)
                    raise section.error(
                        f"no such parameter of {', '.join(sorted(concerned))}{hint}", name
                    )

    def of(self, node: str) -> dict[str, Any]:
        """Return what the file gives to a node that has such parameters; later sections win.

        Args:
            node: its full name, which ends with the name of its executable.
        """
        known = shipped_parameters(node.rpartition("/")[2])
        return {
            name: value
            for section in self.sections
            if section.concerns(node)
            for name, value in section.values.items()
            if name in known or is_of_ros(name)
        }


NO_FILE = GivenParameters(())
"""Parameters where no file is named."""
