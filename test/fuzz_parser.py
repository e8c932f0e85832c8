"""What is fuzzed of a parser: its inputs, how they are damaged, and what must hold if read.

Each parser takes a damaged file.  Nothing but a RobotIdentificationError may come out of it, and
what is read must be a robot, a trajectory, and so on, with the numbers that stand in the file.
"""

import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import yaml

from mutations import damaged_bytes, damaged_yaml, packed_tree

CONFIG = Path(__file__).resolve().parents[1] / "config"


@dataclass(frozen=True)
class Parser:
    """A parser, and how it is fuzzed.

    Attributes:
        seeds: undamaged inputs.
        suffix: how the names of its files end.
        read: reads a file; raises RobotIdentificationError.
        check: refuses what must not have been read so; takes what was read and the input.
        structured: damages an input behind its outer syntax.
        modules: whose lines are counted for its coverage.
        syntax: what errors say where the outer syntax is wrong.
    """

    seeds: tuple[bytes, ...]
    suffix: str
    read: Callable[[Path], Any]
    check: Callable[[Any, bytes], None]
    structured: Callable[[random.Random, bytes], bytes]
    modules: tuple[ModuleType, ...]
    syntax: re.Pattern[str] = re.compile(
        "not valid YAML|not UTF-8|the file is empty|not well-formed XML"
    )

    def damaged(self, rng, corpus, *, structured):
        """Return a damaged input."""
        if structured:
            return self.structured(rng, rng.choice(self.seeds))
        return damaged_bytes(rng, rng.choice(corpus), self.seeds)


def from_yaml(seeds):
    """Return how YAML documents are damaged behind their syntax; the trees are read once."""
    trees = {seed: packed_tree(yaml.safe_load(seed)) for seed in seeds}
    return lambda rng, seed: damaged_yaml(rng, trees[seed])


def yaml_parser(seeds, read, check, *modules):
    """Return a parser of YAML files."""
    return Parser(seeds, ".yaml", read, check, from_yaml(seeds), modules)


def config(folder, *names):
    """Return shipped files without their comments."""
    texts = [(CONFIG / folder / f"{name}.yaml").read_bytes() for name in names]
    return tuple(re.sub(rb"(?m)^ *#.*\n| +#.*$", b"", text) for text in texts)
