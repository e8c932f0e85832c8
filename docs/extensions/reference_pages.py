"""Pages that are made from the code: parameters of the nodes, and the interfaces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sphinx.ext.autodoc.mock import mock

from robot_identification.ros.clients.processes import MODULES
from robot_identification.ros.common.parameters.declaration import TYPES
from robot_identification.settings import Setting

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[2]
NODES = (
    "excitation",
    "acquisition",
    "identification",
    "calibration",
    "simulated_robot",
    "mujoco_robot",
    "computed_torque",
    "fault_injector",
)
KINDS = (("msg", "Messages"), ("srv", "Services"), ("action", "Actions"))
PARTS = {"srv": ("Request", "Response"), "action": ("Goal", "Result", "Feedback"), "msg": ("",)}


def setup(app: Sphinx) -> dict[str, Any]:
    """Make the pages before any is read."""
    app.connect("builder-inited", _write)
    return {"parallel_read_safe": True}


def _write(app: Sphinx) -> None:
    folder = Path(app.srcdir) / "generated"
    folder.mkdir(exist_ok=True)
    with _interfaces():
        pages = {
            "parameters.md": parameters_page(),
            "interfaces.md": interfaces_page(),
            "command_line.md": COMMAND_LINE,
            "python_interface.md": python_page(),
        }
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def _interfaces() -> AbstractContextManager[None]:
    """Let something stand for the generated modules where nobody has built them, as for rosdoc2."""
    modules = [f"robot_identification.{kind}" for kind, _ in KINDS]
    try:
        import_module(modules[0])
    except ImportError:
        return mock(modules)
    return nullcontext()


METHODS = (
    "from_arrays", "summary", "records", "to_dataframe", "plot", "save", "prediction", "recording",
    "between",
)  # fmt: skip

COMMAND_LINE = """# Command line

Exit codes: 0 where all went well, 2 for bad input, 3 for a result that was refused (rank,
conditioning, consistency).  Every command has `--json`.

```{argparse}
:module: robot_identification.cli.main
:func: parser
:prog: robot-identification
:nodefault:
```
"""


def python_page() -> str:
    """Return the public names with their docstrings, and the errors as a table."""
    public = import_module("robot_identification.api.public")
    names = [(name, getattr(public, name)) for name in public.__all__]
    kinds = [(name, value) for name, value in names if isinstance(value, type)]
    lines = ["# Python interface", "", "The names of `import robot_identification`, which are used"]
    lines += ["on the page [From Python](../python.md).", "", "## Functions", "", "```{eval-rst}"]
    functions = [name for name, value in names if not isinstance(value, type)]
    lines += [f".. autofunction:: robot_identification.{name}" for name in functions]
    lines += ["```", "", "## Results, recordings and settings", "", "```{eval-rst}"]
    for name, value in kinds:
        if not issubclass(value, Exception):
            own = [m for m in METHODS if callable(getattr(value, m, None))]
            lines += [f".. autoclass:: robot_identification.{name}"]
            lines += [f"   :members: {', '.join(own)}", "   :inherited-members:"] if own else []
            lines += ["   :no-undoc-members:", ""]
    lines += ["```", "", "## Errors", "", "| error | kind | when |", "|---|---|---|"]
    for name, value in kinds:
        if issubclass(value, Exception):
            told = " ".join((value.__doc__ or "").split("\n\n")[0].split())
            lines.append(f"| `{name}` | `{value.__base__.__name__}` | {told} |")
    return "\n".join(lines) + "\n"


def parameters_page() -> str:
    """Return the table of every node's parameters."""
    remark = (
        "Made from the declarations in the code. *Fixed* ones cannot be changed while the node "
        "runs. The files in `config/` state every parameter with a comment."
    )
    lines = ["# Parameters of the nodes", "", remark]
    for node in NODES:
        lines += ["", f"## {node}", "", "| parameter | type | default | range | meaning |"]
        lines += ["|---|---|---|---|---|", *map(_row, settings_of(node))]
    return "\n".join(lines) + "\n"


def settings_of(node: str) -> Iterable[Setting]:
    """Return the parameters of a node."""
    table = f"{node.title().replace('_', '')}Parameters"
    module = import_module(f"robot_identification.ros.{MODULES[node]}")
    return list(getattr(module, table).table().values())


def _row(setting: Setting) -> str:
    default = "required" if setting.required else _code(setting.default)
    fixed = "" if setting.live else " (fixed)"
    kind = TYPES[setting.kind].name.lower().replace("_", " ")
    columns = (f"`{setting.name}`{fixed}", kind, default, _range(setting), setting.description)
    return f"| {' | '.join(columns)} |"


def _code(value: Any) -> str:
    if isinstance(value, tuple):
        value = list(value)
    return '`""`' if value == "" else f"`{value}`"


def _range(setting: Setting) -> str:
    if setting.choices:
        return ", ".join(_code(choice) for choice in setting.choices)
    bounds = []
    if setting.minimum is not None:
        bounds.append(f"from {setting.minimum:g}")
    if setting.maximum is not None:
        bounds.append(f"to {setting.maximum:g}")
    return " ".join(bounds)


def interfaces_page() -> str:
    """Return messages, services and actions as they are written."""
    lines = ["# Messages, services and actions", "", "As the files in the package define them."]
    for kind, title in KINDS:
        files = sorted((ROOT / kind).glob(f"*.{kind}"))
        if files:
            lines += ["", f"## {title}"]
        for file in files:
            lines += ["", f"### {file.stem}", *_parts(file, kind)]
    return "\n".join(lines) + "\n"


def _parts(file: Path, kind: str) -> Iterator[str]:
    texts = file.read_text(encoding="utf-8").split("\n---\n")
    for name, text in zip(PARTS[kind], texts, strict=True):
        if name:
            yield from ("", f"{name}:")
        yield from ("", "```text", text.strip() or "# nothing", "```")
