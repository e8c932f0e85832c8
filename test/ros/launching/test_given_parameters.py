"""The params_file of a launch: what it gives is in force, and what fits nothing is refused."""

from dataclasses import replace

import pytest

from robot_identification.errors import RobotDescriptionError, SettingError
from robot_identification.robot.files.loading import load_robot
from robot_identification.ros.common.parameters.files import shipped_parameters
from robot_identification.ros.launching.suites import BAGS, LIVE, SIMULATED
from robot_identification.ros.simulation.parameters import (
    MujocoRobotParameters,
    SimulatedRobotParameters,
)

SPEED = "excitation:\n  ros__parameters:\n    speed: 0.3\n"


@pytest.fixture
def file(tmp_path):
    """Return what writes a parameter file and returns the arguments that name it."""

    def write(text, **arguments):
        path = tmp_path / "own.yaml"
        path.write_text(text)
        return {"robot": "ur10", "params_file": str(path), **arguments}

    return write


def parameters(suite, given, node="excitation"):
    return {start.executable: start.parameters for start in suite.starts(given)}[node]


@pytest.mark.parametrize("suite", [LIVE, SIMULATED, BAGS])
def test_a_file_that_is_not_there_is_refused(suite):
    with pytest.raises(RobotDescriptionError, match=r"nowhere\.yaml: cannot be read"):
        suite.starts({"robot": "ur10", "params_file": "nowhere.yaml"})


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("excitation:\n  ros__parameters:\n    sped: 0.3\n", r":3: .*sped.*did you mean speed"),
        ("exitation:\n  ros__parameters:\n    speed: 0.3\n", r":1: .*did you mean /excitation"),
        ("/left/excitation:\n  ros__parameters:\n    speed: 0.3\n", r"did you mean /excitation"),
        ("/*/excitation:\n  ros__parameters:\n    speed: 0.3\n", r"is no node that this launch"),
        ("calibration:\n  ros__parameters:\n    speed: 0.3\n", "no such parameter of calibration"),
        ("/**:\n  ros__parameters:\n    sped: 0.3\n", "did you mean speed"),
        ("simulated_robot:\n  ros__parameters:\n    seed: 1\n", "simulated_robot is no node"),
        ("excitation:\n  ros_parameters:\n    speed: 0.3\n", "stand under NODE: ros__parameters"),
        ("ros__parameters:\n  speed: 0.3\n", "the name of a node stands before"),
        ("excitation:\n  ros__parameters:\n    speed:\n", "no value"),
        ("excitation:\n  speed: 0.3\n", r":2: .*stand under NODE: ros__parameters"),
        ("speed", "begins with NODE"),
        ("excitation: [", "not valid YAML"),
    ],
)
def test_what_fits_no_node_and_no_parameter_is_refused_with_the_nearest_name(file, text, problem):
    with pytest.raises(RobotDescriptionError, match=problem):
        LIVE.starts(file(text))


def test_nodes_that_other_arguments_would_start_may_stand_in_the_file(file):
    text = "computed_torque:\n  ros__parameters:\n    rate: 50.0\n"
    assert parameters(LIVE, file(text, computed_torque="true"), "computed_torque")["rate"] == 50.0
    assert "excitation" in {start.executable for start in LIVE.starts(file(text))}
    mujoco = "mujoco_robot:\n  ros__parameters:\n    seed: 1\n"
    assert SIMULATED.starts(file(mujoco))


@pytest.mark.parametrize(
    "pattern", ["excitation", "/excitation", "/**/excitation", "/**", "**/excitation"]
)
def test_a_node_is_named_as_ros_names_it(file, pattern):
    text = SPEED.replace("excitation", f'"{pattern}"')
    assert parameters(LIVE, file(text))["speed"] == 0.3


@pytest.mark.parametrize(
    "text",
    [
        "/left/excitation: {ros__parameters: {speed: 0.3}}",
        "/*/excitation: {ros__parameters: {speed: 0.3}}",
        "/**/excitation: {ros__parameters: {speed: 0.3}}",
        "left: {excitation: {ros__parameters: {speed: 0.3}}}",
    ],
)
def test_a_node_in_a_namespace_is_named_with_it(file, text):
    for namespace in ("left", "/left", "/left/"):
        assert parameters(LIVE, file(text, namespace=namespace))["speed"] == 0.3
    (start, *_) = LIVE.starts(file(text), within="/left")
    assert start.parameters["speed"] == 0.3


def test_a_node_in_a_namespace_is_not_the_one_without(file):
    with pytest.raises(RobotDescriptionError, match="did you mean /left/excitation"):
        LIVE.starts(file(SPEED, namespace="left"))


def test_an_argument_goes_before_every_section_of_the_file(file):
    """Of sections whose order says otherwise, ROS takes the later one: 0.3 here."""
    text = "/**:\n  ros__parameters:\n    robot: tx40\n" + SPEED
    chosen = parameters(LIVE, file(text, speed="0.2"))
    assert (chosen["speed"], chosen["robot"]) == (0.2, "ur10")


def test_what_a_file_gives_to_all_nodes_goes_to_those_that_have_it(file):
    text = "/**:\n  ros__parameters:\n    speed: 0.3\n    use_sim_time: true\n"
    starts = {start.executable: start.parameters for start in LIVE.starts(file(text))}
    assert starts["excitation"] == {"robot": "ur10", "speed": 0.3, "use_sim_time": True}
    assert starts["calibration"] == {"robot": "ur10", "use_sim_time": True}


def test_the_robot_may_stand_in_the_file(file):
    everywhere = file("/**:\n  ros__parameters:\n    robot: ur10\n", robot="")
    for suite in (LIVE, SIMULATED, BAGS):
        assert {start.parameters["robot"] for start in suite.starts(everywhere)} == {"ur10"}
    once = file("excitation:\n  ros__parameters:\n    robot: ur10\n", robot="")
    with pytest.raises(SettingError, match="acquisition, identification, calibration must know"):
        LIVE.starts(once)


def test_a_simulation_of_another_robot_keeps_its_truth_beside_a_file(file):
    text = "simulated_robot:\n  ros__parameters:\n    seed: 3\n"
    chosen = parameters(SIMULATED, file(text), "simulated_robot")
    assert (chosen["parameters_file"], chosen["seed"]) == ("ur10_simulated", 3)
    own = text.replace("seed: 3", "parameters_file: own.yaml")
    assert parameters(SIMULATED, file(own), "simulated_robot")["parameters_file"] == "own.yaml"
    named = parameters(SIMULATED, file(own, truth="named.yaml"), "simulated_robot")
    assert named["parameters_file"] == "named.yaml"


def test_limits_of_the_watch_have_arguments(file):
    text = "excitation:\n  ros__parameters:\n    state_timeout: 0.2\n"
    chosen = parameters(LIVE, file(text, state_timeout="0.3", tracking_error_limit="0.2"))
    assert (chosen["state_timeout"], chosen["tracking_error_limit"]) == (0.3, [0.2])
    several = parameters(LIVE, file(text, tracking_error_limit="[0.1, 0.2]"))
    assert (several["state_timeout"], several["tracking_error_limit"]) == (0.2, [0.1, 0.2])


@pytest.mark.parametrize("pace", ["2.0", "0.5"])
def test_a_simulated_clock_that_leaves_that_of_the_nodes_is_refused(file, pace):
    text = f"simulated_robot: {{ros__parameters: {{real_time_factor: {pace}}}}}"
    with pytest.raises(SettingError, match="nothing could be planned or moved"):
        SIMULATED.starts(file(text))
    at_the_pace = file(text.replace(pace, "1.0"))
    assert parameters(SIMULATED, at_the_pace, "simulated_robot")["real_time_factor"] == 1.0


def test_a_simulation_cannot_be_told_another_pace():
    with pytest.raises(SettingError, match="no such argument"):
        SIMULATED.starts({"robot": "tx40", "real_time_factor": "2"})


@pytest.mark.parametrize("node", ["simulated_robot", "mujoco_robot"])
@pytest.mark.parametrize(
    ("given", "noise"),
    [
        ("effort_noise: [0.1]", [0.1]),
        ("effort_noise_fraction: 0.5", None),
    ],
)
def test_noise_that_is_given_goes_in_place_of_that_of_the_package(file, node, given, noise):
    """The shipped UR10 has noise of both kinds: values in one simulator, shares in the other."""
    text = f"{node}: {{ros__parameters: {{{given}}}}}"
    chosen = parameters(SIMULATED, file(text, simulator=node), node)
    table = {"simulated_robot": SimulatedRobotParameters, "mujoco_robot": MujocoRobotParameters}
    values = table[node].of({**shipped_parameters(node), **chosen})
    robot = load_robot("ur10")
    limits = [0.5 * joint.limits.effort for joint in robot.joints]
    assert values.sensors(robot).effort_noise == tuple(limits if noise is None else noise * 6)


@pytest.mark.parametrize(
    ("node", "kind"),
    [("simulated_robot", SimulatedRobotParameters), ("mujoco_robot", MujocoRobotParameters)],
)
def test_efforts_of_a_robot_of_ones_own_have_no_noise(node, kind):
    """Nor need its joints have effort limits then."""
    given = {"robot": "own.yaml", "simulator": node}
    values = kind.of({**shipped_parameters(node), **parameters(SIMULATED, given, node)})
    robot = load_robot("stanford")
    free = tuple(replace(j, limits=replace(j.limits, effort=None)) for j in robot.joints)
    sensors = values.sensors(replace(robot, joints=free))
    assert set(sensors.effort_noise) == {0.0}
    assert set(sensors.position_noise) == {1e-5}
