"""How result files are written as YAML and read again."""

from __future__ import annotations

from typing import Any, NoReturn, cast

import yaml

from robot_identification.storage.result_documents import MOST_ENTRIES, MOST_LEVELS

_MOST_LEVELS = MOST_LEVELS
_MOST_NODES = MOST_ENTRIES
_SAFE: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class ResultLoader(_SAFE):  # type: ignore[misc]
    """The safe loader of YAML, without aliases, not too deep or long, and with every key once.

    An alias lets a few bytes stand for gigabytes, thousands of levels end the process, every entry
    takes some 500 bytes of memory, and of a key that stands twice one value is lost.
    """

    def __init__(self, stream: Any) -> None:
        super().__init__(stream)
        self.anchors: dict[str, Any] = {}  # of the composer
        self._levels = self._nodes = 0

    # libyaml's events, put together by Python: libyaml's own way has no bounds to its depth.
    get_single_node = yaml.composer.Composer.get_single_node
    compose_document = yaml.composer.Composer.compose_document
    compose_scalar_node = yaml.composer.Composer.compose_scalar_node
    compose_sequence_node = yaml.composer.Composer.compose_sequence_node
    compose_mapping_node = yaml.composer.Composer.compose_mapping_node

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Return the next node with all that it holds."""
        self._nodes += 1
        self._levels += 1
        if self.check_event(yaml.AliasEvent):
            self._refuse("aliases are not accepted")
        if self._levels > _MOST_LEVELS:
            self._refuse("nested too deeply")
        if self._nodes > _MOST_NODES:
            self._refuse(f"more than {_MOST_NODES} entries")
        node = yaml.composer.Composer.compose_node(self, parent, index)
        self._levels -= 1
        return node

    def _refuse(self, problem: str) -> NoReturn:
        raise yaml.composer.ComposerError(None, None, problem, self.peek_event().start_mark)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        """Return the mapping that a node stands for."""
        mapping = super().construct_mapping(node, deep)
        if len(mapping) != len(node.value):
            raise yaml.constructor.ConstructorError(
                None, None, "a key stands twice", node.start_mark
            )
        return cast("dict[Any, Any]", mapping)


class ResultDumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    """The safe dumper of YAML, which writes out what stands in several places."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 (as in the class above)
        """Return that no alias is ever written."""
        return True
