"""Whatever launch/ and config/ name is there: executables, files, parameters, topics."""

import importlib
import re
from pathlib import Path

import pytest
import yaml

from robot_identification.cli.main import parser
from robot_identification.cli.run import STEPS, settle
from robot_identification.errors import SettingError
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import known_values
from robot_identification.ros.clients.client import READY_WITHIN
from robot_identification.ros.clients.processes import MODULES
from robot_identification.ros.common.parameters.files import read_parameters, shipped_parameters
from robot_identification.ros.demo.session import NODES
from robot_identification.ros.demo.tracking import NODE
from robot_identification.ros.launching import suites
from robot_identification.ros.launching.argument import boolean, number, numbers
from robot_identification.ros.launching.suites import BAGS, LIVE, SIMULATED, offline_command
from robot_identification.setting_kinds import Kind
from robot_identification.share import share_directory

ROOT = Path(__file__).resolve().parents[1]
LAUNCH_FILES = sorted((ROOT / "launch").glob("*.launch.py"))
CONFIGS = sorted((ROOT / "config").glob("*.yaml"))
SIMULATIONS = sorted((ROOT / "config" / "simulations").glob("*.yaml"))
NODES_WITH_ROBOT = [path.stem for path in CONFIGS if "\n    robot:" in path.read_text()]
SUITES = {"live": LIVE, "simulation": SIMULATED, "offline": BAGS}
ARGUMENTS = {"robot", "params_file", "namespace", "effort_meaning", "use_sim_time", "log_level"}
STANDARD = {"use_sim_time"}
OF_RCL = {"~/transition_event"}  # which publishes it for every managed node


def source_of(node):
    """Return the text of the modules that make up a node: its own and those it imports here."""
    found, names = {}, [MODULES[node]]
    while names:
        name = names.pop()
        path = ROOT / "robot_identification" / "ros" / f"{name.replace('.', '/')}.py"
        if name not in found and path.is_file():
            found[name] = path.read_text()
            names += re.findall(r"from robot_identification\.ros\.([\w.]+) import", found[name])
            for folder, line in re.findall(
                r"from robot_identification\.ros\.(\w+) import (.+)", found[name]
            ):
                names += [f"{folder}.{part.strip()}" for part in line.split(",")]
    return "\n".join(found.values())


def executables():
    """Return the nodes that CMake installs, with their modules below robot_identification.ros."""
    text = (ROOT / "CMakeLists.txt").read_text()
    module = r"install_executable\((\w+) \$\{PROJECT_NAME\}\.ros\.([\w.]+) main\)"
    return dict(re.findall(module, text))


def declared(node):
    """Return the parameters that a node declares, by name."""
    table = f"{node.title().replace('_', '')}Parameters"
    return getattr(
        importlib.import_module(f"robot_identification.ros.{MODULES[node]}"), table
    ).table()


def everything(suite):
    """Return an argument for each that a suite has, with a value that it can have."""
    unlike = {"bag", "validation_bag", "method", "output", "joint_trajectory", "simulator"}
    unlike.add("params_file")  # is read
    numbers_of = (number, numbers)
    numeric = {argument.name for argument in suite.arguments if argument.convert in numbers_of}
    booleans = {argument.name for argument in suite.arguments if argument.convert is boolean}
    return {
        argument.name: "1"
        if argument.name in numeric
        else "true"
        if argument.name in booleans | set(suite.optional)
        else argument.choices[-1]
        if argument.choices
        else f"/given/{argument.name}"
        for argument in suite.arguments
        if argument.name not in unlike
    }


@pytest.mark.parametrize("name", SUITES)
def test_launch_files_and_suites_belong_together(name):
    text = (ROOT / "launch" / f"{name}.launch.py").read_text()
    (constant,) = re.findall(r"return describe\((\w+)\)", text)
    assert getattr(suites, constant) is SUITES[name]
    assert {path.name for path in LAUNCH_FILES} == {f"{name}.launch.py" for name in SUITES}
    names = [argument.name for argument in SUITES[name].arguments]
    assert ARGUMENTS <= set(names)
    assert len(names) == len(set(names))


@pytest.mark.parametrize("suite", SUITES.values(), ids=SUITES)
def test_what_starts_is_there_with_its_own_parameter_file(suite):
    starts = suite.starts(everything(suite))
    assert {start.executable for start in starts} >= set(suite.optional)
    for start in starts:
        assert start.executable in executables()
        own = share_directory() / "config" / f"{start.executable}.yaml"
        assert Path(start.parameter_file) == own
        assert own.read_bytes() == (ROOT / "config" / own.name).read_bytes()
        assert start.namespace == "/given/namespace"
        assert start.ros_arguments[-1] == f"/given/enclaves/{start.executable}"


@pytest.mark.parametrize("suite", SUITES.values(), ids=SUITES)
def test_arguments_set_parameters_and_topics_that_exist(suite):
    reached = set()
    for start in suite.starts(everything(suite)):
        specs = declared(start.executable)
        for name, value in start.parameters.items():
            assert name in STANDARD or specs[name].problem(value) == "", (start.executable, name)
        for topic in start.remappings:
            assert f'"{topic}"' in source_of(start.executable), (start.executable, topic)
        reached |= {*start.parameters, *start.remappings}
    for argument in suite.arguments:
        assert {argument.parameter, argument.topic} <= {"", "joint_trajectory", *reached}


def test_nothing_is_said_that_was_not_given_or_is_meant_by_the_suite():
    for suite in (LIVE, SIMULATED):
        for start in suite.starts({"robot": "own.yaml", "namespace": ""}):
            meant = suite.fixed.get(start.executable, {})
            assert start.parameters == {"robot": "own.yaml", **meant}
            assert start.remappings == {}
            assert start.ros_arguments == ["--log-level", "info"]


def test_a_controller_gets_its_trajectories_in_the_namespace_unless_it_is_absolute():
    for name, topic in (
        ("arm_controller", "arm_controller/joint_trajectory"),
        ("/left/arm_controller/", "/left/arm_controller/joint_trajectory"),
    ):
        remapped = {
            s.executable: s.remappings for s in LIVE.starts({"robot": "ur10", "controller": name})
        }
        assert remapped["excitation"] == remapped["acquisition"] == {"joint_trajectory": topic}
        assert remapped["calibration"] == {}
        (excitation,) = (
            s
            for s in LIVE.starts({"robot": "ur10", "controller": name})
            if s.executable == "excitation"
        )
        action = topic.replace("/joint_trajectory", "/follow_joint_trajectory")
        assert excitation.parameters["controller_action"] == action


def test_the_action_of_a_controller_may_have_a_name_of_its_own():
    given = {"robot": "ur10", "controller": "arm", "controller_action": "/arm/follow"}
    (excitation,) = (s for s in LIVE.starts(given) if s.executable == "excitation")
    assert excitation.parameters["controller_action"] == "/arm/follow"


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"speed": "fast"}, "speed = fast"),
        ({"speed": "nan"}, "finite"),
        ({"use_sim_time": "perhaps"}, "neither true nor false"),
        ({"effort_meaning": "torque"}, "joint_torque"),
        ({"computed_torque": "maybe"}, "neither true nor false"),
        ({"controller": "a", "joint_trajectory": "b"}, "not both"),
        ({"state_timeout": "soon"}, "state_timeout = soon"),
        ({"tracking_error_limit": "0.1;0.2"}, "one per joint"),
        ({"robbot": "tx40"}, "robbot = tx40: no such argument; did you mean robot"),
        ({"contoller": "arm"}, "did you mean controller"),
    ],
)
def test_arguments_of_no_use_are_refused(given, problem):
    with pytest.raises(SettingError, match=problem):
        LIVE.starts({"robot": "ur10", **given})


@pytest.mark.parametrize("suite", SUITES.values(), ids=SUITES)
def test_every_launch_file_names_what_a_misspelt_argument_may_have_meant(suite):
    for name in (argument.name for argument in suite.arguments):
        misspelt = f"{name}e"
        with pytest.raises(SettingError, match=f"{misspelt} = x: no such argument.*{name}"):
            suite.refuse_unknown({misspelt: "x"})


@pytest.mark.parametrize("suite", [LIVE, BAGS], ids=["live", "offline"])
def test_no_node_of_a_real_robot_starts_without_being_told_which(suite):
    for given in ({}, {"robot": ""}, {"namespace": "left"}):
        with pytest.raises(SettingError, match=r"identification, calibration.*robot:=FILE"):
            suite.starts(given)


@pytest.mark.parametrize("name", NODES_WITH_ROBOT)
def test_no_shipped_parameter_file_names_a_robot(name):
    assert shipped_parameters(name)["robot"] == ""
    assert "must be given" in declared(name)["robot"].problem("")


@pytest.mark.parametrize(
    ("simulator", "robot"), [("simulated_robot", "tx40"), ("mujoco_robot", "ur10")]
)
def test_a_simulation_has_a_robot_of_its_own(simulator, robot):
    starts = SIMULATED.starts({"simulator": simulator})
    assert {start.parameters["robot"] for start in starts} == {robot}
    assert starts[0].parameters["parameters_file"] == f"{robot}_simulated"


def test_a_simulation_has_the_values_that_belong_to_its_robot():
    (robot, *_) = SIMULATED.starts({"robot": "ur10", "effort_noise": "0.01"})
    assert robot.parameters["parameters_file"] == "ur10_simulated"
    assert robot.parameters["effort_noise"] == [0.0]
    assert robot.parameters["effort_noise_fraction"] == 0.01
    (robot, *_) = SIMULATED.starts(
        {"simulator": "mujoco_robot", "robot": "ur10", "truth": "a.yaml"}
    )
    assert (robot.executable, robot.parameters["parameters_file"]) == ("mujoco_robot", "a.yaml")


def test_the_simulation_starts_what_a_commissioning_needs():
    assert {*SIMULATED.nodes, *SIMULATED.optional} == {*NODES, "excitation", "calibration", NODE}


def test_bags_become_options_of_the_command():
    line = offline_command({"bag": "/a:/b c", "validation_bag": "/d", "method": "ols"})
    options = parser().parse_args(line)
    assert options.bag == [Path("/a"), Path("/b c")]
    assert options.validation_bag == [Path("/d")]
    assert options.method == "ols"
    assert options.steps == ("identify", "validate", "calibrate")
    assert options.wait == READY_WITHIN


@pytest.mark.parametrize(
    ("suite", "name", "needed"),
    [
        (BAGS, "validation_bag", "bag"),
        (BAGS, "method", "bag"),
        (BAGS, "output", "bag"),
        (LIVE, "effort_type", "effort_topic"),
        (LIVE, "effort_delay", "effort_topic"),
    ],
)
def test_an_argument_without_effect_is_refused(tmp_path, suite, name, needed):
    values = {"method": "wls", "effort_type": "std_msgs/msg/Float64MultiArray"}
    given = {"robot": "scara", name: values.get(name, "0.01")}
    with pytest.raises(SettingError, match=f"{name} = .* has no effect without {needed}"):
        suite.starts(given)
    assert suite.starts({**given, needed: "/given"})
    if suite is LIVE:
        file = tmp_path / "own.yaml"
        file.write_text(f"acquisition: {{ros__parameters: {{{needed}: /given}}}}")
        assert suite.starts({**given, "params_file": str(file)})


def test_files_of_a_launch_may_begin_with_the_home_folder(monkeypatch, tmp_path):
    """Those that become parameters are expanded by the nodes."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "own.yaml").write_text("identification: {ros__parameters: {friction: auto}}")
    given = {"bag": "~/a:/b", "validation_bag": "~/c", "output": "~/run"}
    options = parser().parse_args(offline_command(given))
    assert options.bag == [tmp_path / "a", Path("/b")]
    assert (options.validation_bag, options.output) == ([tmp_path / "c"], tmp_path / "run")
    (start, _) = BAGS.starts({"robot": "scara", "params_file": "~/own.yaml"})
    assert start.parameters["friction"] == "auto"


def test_parameters_that_name_files_may_begin_with_the_home_folder():
    known = {
        name for node in executables() for name, setting in declared(node).items() if setting.path
    }
    files = {"robot", "robot_defaults", "output_directory", "cell", "joint_limits", "prior", "urdf"}
    assert known == files | {"parameters_file", "bag_directory", "model"} | {"faults"}


@pytest.mark.parametrize(
    ("others", "steps"),
    [({}, ("identify", "calibrate")), ({"validation_bag": "/d"}, STEPS[3:])],
)
def test_didim_is_validated_on_other_bags_only(others, steps):
    options = parser().parse_args(offline_command({"bag": "/a", "method": "didim", **others}))
    settle(options)
    assert (options.steps, options.held_out) == (steps, 0.0)


@pytest.mark.parametrize(
    ("namespace", "found"), [("", "/cell"), ("left", "/cell/left"), ("/left", "/left")]
)
def test_bags_are_identified_by_the_nodes_of_the_launch(tmp_path, namespace, found):
    given = {"bag": "/a", "robot": "scara", "namespace": namespace}
    options = parser().parse_args(offline_command(given, within="/cell"))
    assert options.namespace == found
    file = tmp_path / "given.yaml"
    file.write_text(f"{found}/identification: {{ros__parameters: {{friction: auto}}}}")
    starts = BAGS.starts({**given, "params_file": str(file)}, within="/cell")
    own = {start.executable: start.parameters for start in starts}
    assert own["identification"]["friction"] == "auto"


@pytest.mark.parametrize("suite", SUITES.values(), ids=SUITES)
def test_a_namespace_that_ros_refuses_ends_the_launch_before_anything_starts(suite):
    with pytest.raises(SettingError, match="no namespace"):
        suite.starts({"robot": "scara", "namespace": "left arm"})


def test_executables_have_a_main():
    assert executables() == MODULES
    for module in MODULES.values():
        assert callable(importlib.import_module(f"robot_identification.ros.{module}").main)


@pytest.mark.parametrize("node", sorted(executables()))
def test_a_node_has_a_parameter_file_and_is_documented(node):
    assert ROOT / "config" / f"{node}.yaml" in CONFIGS
    pages = [path.read_text(encoding="utf-8") for path in (ROOT / "docs").glob("*.md")]
    assert any(re.search(rf"^## Node `{node}`$", page, re.MULTILINE) for page in pages)
    listed = (ROOT / "docs" / "extensions" / "reference_pages.py").read_text(encoding="utf-8")
    assert f'    "{node}",\n' in listed, "its parameters are not on a page"


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
            assert specs[name].problem(value) == ("must be given" if name == "robot" else ""), name
    assert given.get("parameters_file", "") in ("", *known_values())


@pytest.mark.parametrize("path", SIMULATIONS, ids=lambda path: path.name)
def test_simulations_are_of_shipped_robots_and_give_parameters_that_are_declared(path):
    robot = load_robot(path.stem)
    for section in read_parameters(path):
        specs = declared(section.pattern.rpartition("/")[2])
        for name, value in section.values.items():
            assert specs[name].problem(value) == "", name
        assert section.values["parameters_file"] in known_values()
        assert len(section.values.get("effort_noise", robot.joints)) == len(robot.joints)


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.name)
def test_every_parameter_is_explained(path):
    bare = [
        line
        for line in path.read_text().splitlines()
        if re.match(r"\s+\w+:", line) and "ros__parameters" not in line and "#" not in line
    ]
    assert bare == []


def test_documented_names_exist():
    """Every topic and service in docs/ros_interfaces.md is in the source of its node."""
    text = (ROOT / "docs" / "ros_interfaces.md").read_text()
    for node, section in re.findall(
        r"^## Node `(\w+)`\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL
    ):
        source = source_of(node)
        for name in re.findall(r"^\| `([~/\w]+)` \|", section, re.MULTILINE):
            parameter = name in declared(node)
            assert parameter or name in OF_RCL or f'"{name}"' in source, f"{node}: {name}"
        assert set(declared(node)) <= set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE))


def test_documented_defaults_are_those_of_the_tables():
    text = (ROOT / "docs" / "ros_interfaces.md").read_text()
    for node, section in re.findall(
        r"^## Node `(\w+)`\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL
    ):
        table = declared(node)
        parameters = section.partition("| parameter | default |")[2]
        for name, told in re.findall(r"^\| `(\w+)` \| ([^|]*) \|", parameters, re.MULTILINE):
            setting = table[name]
            value = told.partition(":")[0].strip("` ")
            if setting.required:
                assert value == "required"
            elif setting.kind is Kind.FLAG:
                assert value == str(setting.default).lower()
            elif setting.default not in ("", ()):
                assert setting.parse(value) == setting.default, f"{node}: {name}"
