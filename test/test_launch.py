"""Whatever launch/ and config/ name is there: executables, files, parameters, topics."""

import ast
import importlib
import re
from pathlib import Path

import pytest
import yaml

from robot_identification.robot.loading import known_robots
from robot_identification.robot.values import known_values

ROOT = Path(__file__).resolve().parents[1]
LAUNCH_FILES = sorted((ROOT / "launch").glob("*.launch.py"))
CONFIGS = sorted((ROOT / "config").glob("*.yaml"))
ARGUMENTS = {"robot", "params_file", "namespace", "computed_torque", "use_sim_time", "log_level"}
STANDARD = {"use_sim_time"}


def nodes_of(path):
    """Return the keyword arguments of every Node(...) of a launch file, as syntax."""
    tree = ast.parse(path.read_text())
    return [
        {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "Node"
    ]


def texts(path):
    """Return every string of a launch file."""
    tree = ast.parse(path.read_text())
    return [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and n.value]


def source_of(node):
    """Return the text of the modules that make up a node: its own and those it imports here."""
    found, names = {}, [node]
    while names:
        name = names.pop()
        path = ROOT / "robot_identification" / "nodes" / f"{name}.py"
        if name not in found and path.is_file():
            found[name] = path.read_text()
            names += re.findall(r"from robot_identification\.nodes\.(\w+) import", found[name])
            for line in re.findall(r"from robot_identification\.nodes import (.+)", found[name]):
                names += [part.strip() for part in line.split(",")]
    return "\n".join(found.values())


def executables():
    text = (ROOT / "CMakeLists.txt").read_text()
    return set(re.search(r"foreach\(NODE ([\w ]+)\)", text).group(1).split())


def declared(node):
    """Return the parameters that a node declares, by name."""
    for module in (f"{node}_parameters", node):
        try:
            loaded = importlib.import_module(f"robot_identification.nodes.{module}")
        except ModuleNotFoundError:
            continue
        if hasattr(loaded, "PARAMETERS"):
            return {spec.name: spec for spec in loaded.PARAMETERS}
    raise AssertionError(f"{node} declares no parameters")


@pytest.mark.parametrize("path", LAUNCH_FILES, ids=lambda path: path.name)
def test_executables_and_files_exist(path):
    nodes = nodes_of(path)
    assert nodes
    for node in nodes:
        assert node["executable"].value in executables()
    for text in texts(path):
        if isinstance(text, str) and text.endswith(".yaml"):
            assert (ROOT / "config" / text).is_file()


@pytest.mark.parametrize("path", LAUNCH_FILES, ids=lambda path: path.name)
def test_every_node_gets_its_own_parameter_file(path):
    for node in nodes_of(path):
        name = node["executable"].value
        assert f'CONFIG / "{name}.yaml"' in ast.unparse(node["parameters"]).replace("'", '"')


@pytest.mark.parametrize("path", LAUNCH_FILES, ids=lambda path: path.name)
def test_the_promised_arguments_exist(path):
    assert set(texts(path)) >= ARGUMENTS


@pytest.mark.parametrize("path", LAUNCH_FILES, ids=lambda path: path.name)
def test_remapped_topics_exist(path):
    text = path.read_text()
    remapped = re.findall(r'remappings = \[\("(\w+)"', text)
    for topic in remapped:
        assert any(f'"{topic}"' in source_of(n["executable"].value) for n in nodes_of(path))


def test_the_simulation_starts_what_a_commissioning_needs():
    from robot_identification.nodes.commissioning import OTHERS
    from robot_identification.nodes.session import NODES
    from robot_identification.nodes.tracking import NODE

    (path,) = [path for path in LAUNCH_FILES if path.name == "simulation.launch.py"]
    assert {node["executable"].value for node in nodes_of(path)} == {*NODES, *OTHERS, NODE}


def test_executables_have_a_main():
    for name in executables():
        assert callable(importlib.import_module(f"robot_identification.nodes.{name}").main)


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.name)
def test_parameter_files_name_parameters_that_are_declared(path):
    document = yaml.safe_load(path.read_text())
    ((pattern, content),) = document.items()
    assert pattern == f"/**/{path.stem}"
    assert path.stem in executables()
    specs = declared(path.stem)
    given = content["ros__parameters"]
    assert set(given) - STANDARD == set(specs), "a parameter file states every parameter"
    for name, value in given.items():
        if name in specs:
            assert specs[name].problem(value) == "", name
    assert given.get("robot", "tx40") in known_robots()
    assert given.get("parameters_file", "") in ("", *known_values())


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.name)
def test_every_parameter_is_explained(path):
    bare = [
        line
        for line in path.read_text().splitlines()
        if re.match(r"\s+\w+:", line) and "ros__parameters" not in line and "#" not in line
    ]
    assert bare == []


@pytest.mark.parametrize("path", LAUNCH_FILES, ids=lambda path: path.name)
def test_descriptions_can_be_built(path):
    try:
        from launch.actions import OpaqueFunction

        from launch import LaunchContext, LaunchDescription
    except ImportError:
        pytest.skip(
            "there is no launch here; it comes with an installed ROS 2, not with its wheels"
        )
    space = {"__file__": str(path)}
    exec(compile(path.read_text(), path, "exec"), space)
    description = space["generate_launch_description"]()
    assert isinstance(description, LaunchDescription)
    context = LaunchContext()
    for entity in description.entities:
        made = entity.visit(context)
        if isinstance(entity, OpaqueFunction):
            assert len(made) == len(nodes_of(path)) - 1
            context.launch_configurations["computed_torque"] = "true"
            assert len(entity.visit(context)) == len(nodes_of(path))


def test_documented_names_exist():
    """Every topic and service in docs/ros_interfaces.md is in the source of its node."""
    text = (ROOT / "docs" / "ros_interfaces.md").read_text()
    for node, section in re.findall(
        r"^## Node `(\w+)`\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL
    ):
        source = source_of(node)
        for name in re.findall(r"^\| `([~/\w]+)` \|", section, re.MULTILINE):
            parameter = name in declared(node)
            assert parameter or f'"{name}"' in source, f"{node}: {name}"
        assert set(declared(node)) <= set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE))
