"""Parameters of nodes: unknown ones are refused, changes are checked, and the node is asked."""

import sys
import threading
from dataclasses import dataclass

import pytest
from rclpy.parameter import Parameter

from refused_starts import refused_start
from robot_identification.errors import NotActiveError, RobotDescriptionError, SettingError
from robot_identification.ros.common.parameters.declaration import NodeParameters, declare
from robot_identification.ros.common.parameters.files import read_parameters
from robot_identification.ros.common.parameters.shared import SharedParameters
from robot_identification.ros.excitation.parameters import ExcitationParameters
from robot_identification.settings import Settings, same, setting
from ros_nodes import node
from test_launch import NODES_WITH_ROBOT


@dataclass(frozen=True)
class Parameters(Settings):
    """Parameters that may change, two of them when the node agrees."""

    speed: float = setting("how fast", 1.0, live=True)
    bags: str = setting("where bags go", "", path=True, live=True)
    names: tuple[str, ...] = setting("names", ("a",), live=True)
    state_timeout: float = same(ExcitationParameters, "state_timeout")
    tracking_error_limit: tuple[float, ...] = same(ExcitationParameters, "tracking_error_limit")


@pytest.fixture
def file(tmp_path, monkeypatch):
    """Return what writes a parameter file and returns the command line that names it."""

    def write(text, *arguments):
        path = tmp_path / "own.yaml"
        path.write_text(text)
        line = ["--params-file", str(path), *arguments]
        monkeypatch.setattr(sys, "argv", ["node", "--ros-args", *line])
        return line

    return write


def change(made, name, value):
    return made.set_parameters([Parameter(name, value=value)])[0]


def test_a_value_that_changes_while_another_thread_reads_is_not_lost():
    reading, changed = threading.Event(), threading.Event()

    @dataclass(frozen=True)
    class Slow(Parameters):
        """Parameters that are changed while they are put together."""

        def __post_init__(self):
            reading.set()
            changed.wait(0.05)  # whoever changes them has to wait

    given = {name: entry.default for name, entry in Slow.table().items()}
    parameters = NodeParameters(Slow, given)
    reader = threading.Thread(target=lambda: parameters.now)
    reader.start()
    reading.wait()
    parameters.change({"speed": 2.0})
    changed.set()
    reader.join()
    assert parameters.now.speed == 2.0


@pytest.mark.ros
class TestUnknownParameters:
    @pytest.mark.parametrize("name", ["sped", "speed.x", "names2"])
    def test_one_that_is_given_alone_is_refused(self, name):
        with node("-p", f"{name}:=1") as made, pytest.raises(SettingError, match=name):
            declare(made, Parameters)

    def test_the_nearest_name_is_told(self):
        hint = pytest.raises(SettingError, match="node arm; did you mean speed")
        with node("-p", "sped:=1") as made, hint:
            declare(made, Parameters)

    @pytest.mark.parametrize("pattern", ["arm", "/arm", "/**/arm", "/*/arm", "/left/arm"])
    def test_one_that_a_file_gives_to_the_node_is_refused(self, file, pattern):
        line = file(f'"{pattern}": {{ros__parameters: {{sped: 1}}}}\n')
        namespace = "left" if pattern in ("/*/arm", "/left/arm") else ""
        with node(*line, namespace=namespace) as made, pytest.raises(SettingError, match="sped"):
            declare(made, Parameters)

    def test_what_a_file_gives_to_others_is_theirs(self, file):
        with node(*file("other: {ros__parameters: {sped: 1}}\n")) as made:
            assert declare(made, Parameters).now.speed == 1.0

    def test_what_a_file_gives_to_all_nodes_need_not_be_for_this_one(self, file):
        line = file('"/**": {ros__parameters: {velocity_share: 0.5, speed: 0.3}}\n')
        with node(*line) as made:
            assert declare(made, Parameters).now.speed == 0.3

    def test_what_is_given_to_all_and_alone_is_refused(self, file):
        line = file('"/**": {ros__parameters: {sped: 0.5}}\n', "-p", "sped:=0.5")
        with node(*line) as made, pytest.raises(SettingError, match="sped"):
            declare(made, Parameters)

    def test_what_ros_itself_declares_is_known(self):
        own = (
            "use_sim_time:=true",
            "start_type_description_service:=false",
            "qos_overrides./clock.subscription.depth:=5",
        )
        line = [word for one in own for word in ("-p", one)]
        with node(*line) as made:
            declare(made, Parameters)
            assert made.get_parameter("use_sim_time").value is True

    @pytest.mark.parametrize("name", NODES_WITH_ROBOT)
    def test_every_node_of_the_package_refuses_one_before_it_does_anything(self, name):
        said = refused_start(name, {"robbot": "ur10"})
        assert "robbot = ur10: no such parameter" in said
        assert "did you mean robot" in said

    @pytest.mark.parametrize("name", NODES_WITH_ROBOT)
    def test_no_node_has_a_robot_of_its_own(self, name):
        assert "robot = : must be given" in refused_start(name, {})

    def test_a_parameter_file_that_is_not_there_is_one_line(self):
        said = refused_start("acquisition", {}, parameter_files=["/nowhere.yaml"])
        (line,) = [line for line in said.splitlines() if "FATAL" in line]
        assert "/nowhere.yaml" in line


@pytest.mark.ros
class TestChanges:
    def test_a_node_is_asked_for_those_that_it_must_agree_to(self):
        asked = []

        def refuse(values):
            asked.append(dict(values))
            return "the robot moves" if values.get("state_timeout") == 0.5 else ""

        with node() as made:
            told = []
            parameters = declare(
                made, Parameters, refuse=refuse, changed=lambda: told.append(parameters.now.speed)
            )
            assert change(made, "speed", 0.5).successful
            assert asked == []
            assert told == [0.5]
            refused = change(made, "state_timeout", 0.5)
            assert (refused.successful, refused.reason) == (False, "the robot moves")
            assert parameters.now.state_timeout == 0.0
            for given, value in (([1, 2], (1.0, 2.0)), (0.2, (0.2,)), (1, (1.0,))):
                assert change(made, "tracking_error_limit", given).successful
                assert parameters.now.tracking_error_limit == value
                assert asked.pop() == {"tracking_error_limit": value}
            assert asked == [{"state_timeout": 0.5}]

    def test_a_node_may_refuse_by_an_error(self):
        def refuse(values):
            raise SettingError("tracking_error_limit", [1.0, 2.0], "give one per joint")

        with node() as made:
            declare(made, Parameters, refuse=refuse)
            assert "one per joint" in change(made, "tracking_error_limit", [1.0, 2.0]).reason

    def test_a_node_that_was_shut_down_refuses_and_goes_on(self):
        def refuse(values):
            raise NotActiveError("/excitation", "finalized")

        with node() as made:
            declare(made, Parameters, refuse=refuse)
            refused = change(made, "state_timeout", 0.3)
            assert not refused.successful
            assert "/excitation" in refused.reason

    def test_one_number_may_stand_for_a_list_of_one_when_the_node_starts(self):
        with node("-p", "tracking_error_limit:=0.05") as made:
            assert declare(made, Parameters).now.tracking_error_limit == (0.05,)

    @pytest.mark.parametrize("shown", ["~/bags", "/home/me/bags"])
    def test_a_path_may_begin_with_the_home_folder(self, monkeypatch, shown):
        """The shell leaves it as it is behind `bags:=`."""
        monkeypatch.setenv("HOME", "/home/me")
        with node("-p", f"bags:={shown}") as made:
            parameters = declare(made, Parameters)
            assert parameters.now.bags == "/home/me/bags"
            assert change(made, "bags", "").successful
            assert parameters.now.bags == ""
            assert change(made, "bags", shown).successful
            assert parameters.now.bags == "/home/me/bags"

    def test_without_an_answer_nothing_changes(self):
        with node() as made:
            declare(made, Parameters)
            refused = change(made, "state_timeout", 0.5)
            assert not refused.successful
            assert "state_timeout cannot change" in refused.reason

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("tracking_error_limit", "0.2"),
            ("tracking_error_limit", ["0.2"]),
            ("tracking_error_limit", [True]),
            ("tracking_error_limit", None),
            ("tracking_error_limit", [-1.0]),
            ("names", "a"),
            ("names", [1]),
            ("state_timeout", None),
            ("state_timeout", [0.1]),
            ("state_timeout", float("nan")),
            ("speed", "fast"),
        ],
    )
    def test_a_value_of_another_kind_is_refused_and_never_an_exception(self, name, value):
        with node() as made:
            parameters = declare(made, Parameters, refuse=lambda _: "")
            before = parameters.now
            assert not change(made, name, value).successful
            assert parameters.now == before

    def test_the_watch_of_a_motion_changes_only_when_the_node_agrees(self):
        asking = {one.name: one for one in ExcitationParameters.table().values() if one.asks}
        assert {"state_timeout", "tracking_error_limit"} <= set(asking)
        assert all(one.live for one in asking.values())


def test_a_robot_must_be_named():
    robot = SharedParameters.table()["robot"]
    assert robot.problem("") == "must be given"
    assert robot.problem("ur10") == ""


@pytest.mark.parametrize(
    ("pattern", "node_name", "concerned"),
    [
        ("/**", "/a/b/arm", True),
        ("/**/arm", "/arm", True),
        ("/**/arm", "/a/b/arm", True),
        ("/*/arm", "/a/arm", True),
        ("/*/arm", "/arm", False),
        ("/*/arm", "/a/b/arm", False),
        ("arm", "/arm", True),
        ("arm", "/a/arm", False),
        ("/a/arm", "/a/arm", True),
        ("/**/arm", "/a/farm", False),
        ("/a/**", "/a/b/arm", True),
        ("/a/**", "/b/arm", False),
    ],
)
def test_patterns_stand_for_the_nodes_that_ros_gives_them_to(
    tmp_path, pattern, node_name, concerned
):
    path = tmp_path / "own.yaml"
    path.write_text(f'"{pattern}": {{ros__parameters: {{a: 1, b: {{c: 2}}}}}}\n')
    (section,) = read_parameters(path)
    assert section.concerns(node_name) is concerned
    assert dict(section.values) == {"a": 1, "b.c": 2}
    namespace, _, name = node_name.rpartition("/")
    with node("--params-file", str(path), name=name, namespace=namespace) as made:
        assert set(made._parameter_overrides) == ({"a", "b.c"} if concerned else set())


def test_a_list_is_no_parameter_file(tmp_path):
    path = tmp_path / "own.yaml"
    path.write_text("- 1\n")
    with pytest.raises(RobotDescriptionError, match="no parameter file"):
        read_parameters(path)
