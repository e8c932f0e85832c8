"""What stands around a robot, worked out by hand for two slides: the tool point and the tube."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from robot_identification.collision.clearance import Clearance, Nearest
from robot_identification.errors import NotCertifiedError, SettingError, ShapeError
from robot_identification.excitation.certification import surroundings
from robot_identification.excitation.certification.surroundings import Surroundings
from robot_identification.excitation.motions.braking import brake
from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.robot.experiment import Workspace
from robot_identification.robot.joint import Joint, JointLimits, JointType
from robot_identification.robot.model import RobotModel
from robot_identification.robot.terms.temperature import TemperatureDependence

NEAREST = Nearest(0.05, ("arm", "post"), 1.5, np.zeros(1), np.zeros((2, 3)), True)
LARGE = 1e3
ALONG_X = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])


def slides(workspace=None, **limits):
    """Return a robot that moves its tool point up by its first joint, forwards by the second."""
    given = JointLimits(**{"lower": -3.0, "upper": 3.0, "velocity": 4.0, **limits})
    joints = tuple(
        Joint(name, f"{name}_link", JointType.PRISMATIC, i - 1, turn, np.zeros(3), limits=given)
        for i, (name, turn) in enumerate((("up", np.eye(3)), ("forwards", ALONG_X)))
    )
    return RobotModel("portal", "base", joints, [0.0, 0.0, -9.81], workspace=workspace)


def sweep(first=1.0, second=0.5, times=(0.0, 1.0)):
    still = np.zeros((len(times), 2))
    share = (np.array(times) - times[0]) / (times[-1] - times[0])
    return Trajectory(("up", "forwards"), np.array(times), np.outer(share, [first, second]), still,
                      still)  # fmt: skip


def place(t):
    return 10.0 * t**3 - 15.0 * t**4 + 6.0 * t**5


def speed(t):
    return 30.0 * t**2 - 60.0 * t**3 + 30.0 * t**4


def gain(t):
    return 60.0 * t - 180.0 * t**2 + 120.0 * t**3


def visited(acceleration, first=1.0, second=0.5):
    """Return (samples, 2) places along the sweep, and on the way to rest from eight of them.

    The acceleration falls to zero within 20 ms, in which three instants are looked at.  Then each
    joint takes 1.5 v / a on its own; nine instants of the longer way are looked at.
    """
    ways = np.array([first, second])
    run = place(np.linspace(0.0, 1.0, 500))
    found = [np.outer(run, ways)]
    for t in np.arange(8) / 8.0:
        for u in 0.02 * np.array([0.25, 0.5, 0.75]):
            way = place(t) + speed(t) * u + gain(t) * (u**2 / 2.0 - u**3 / 0.12)
            found.append(way * ways[None])
        begin = (place(t) + speed(t) * 0.02 + gain(t) * 0.02**2 / 3.0) * ways
        v = (speed(t) + gain(t) * 0.01) * ways
        own = 1.5 * np.abs(v) / acceleration
        for passed in np.linspace(0.0, 1.0, 9) * own.max():
            s = np.ones(2)
            s[own > 0.0] = np.minimum(passed / own[own > 0.0], 1.0)
            way = v * own * (s - s**3 + s**4 / 2.0)
            found.append((begin + way)[None])
    return np.vstack(found)


@pytest.mark.parametrize(
    ("first", "second"), [(1.0, 0.5), (0.5, 1.0), (1.0, 0.0), (-1.0, -0.5), (-1.0, 1.0)]
)
@pytest.mark.parametrize("acceleration", [6.0, 40.0])
@pytest.mark.parametrize("side", [0.4531, 0.9071, 1.0171, 1.2])
def test_the_tool_point_stays_in_its_box_along_the_motion_and_while_it_brakes(
    first, second, acceleration, side
):
    robot = slides(acceleration=acceleration)
    seen = visited(acceleration, first, second)
    for axis, coordinate in ((0, 2), (1, 0)):
        lower, upper = np.full(3, -LARGE), np.full(3, LARGE)
        lower[coordinate], upper[coordinate] = -side, side
        robot = slides(Workspace(tuple(lower), tuple(upper)), acceleration=acceleration)
        found = Surroundings().tool(robot, sweep(first, second), MotionLimits.of(robot))
        outside = int((np.abs(seen[:, axis]) > side).sum())
        assert found.name == "tool"
        assert found.passed == (outside == 0)
        assert found.detail.endswith(f"({outside} of 596 samples)" if outside else "")


@pytest.mark.parametrize(("side", "passed"), [(1.07, False), (1.10, True)])
def test_a_robot_brakes_into_its_box_though_its_acceleration_falls_first(side, passed):
    """At 0.725 m it has 1.65 m/s: at once it would stop at 1.064 m, after 20 ms it does at 1.09."""
    box = Workspace((-LARGE, -LARGE, -LARGE), (LARGE, LARGE, side))
    robot = slides(box, acceleration=6.0)
    limits = MotionLimits.of(robot)
    assert Surroundings().tool(robot, sweep(), limits).passed == passed
    q, v, a = (values[0] for values in sweep().sample([0.625]))
    end = q + v * 0.02 + a * 0.02**2 / 3.0
    rest = brake(limits, robot.joint_names, end, v + a * 0.01).positions[-1]
    assert 1.07 < rest[0] < 1.10


def test_every_interval_is_braked_from_and_every_2_ms_are_looked_at():
    box = Workspace((0.0, 0.0, LARGE), (LARGE, 0.0, LARGE))
    robot = slides(box, acceleration=6.0)
    limits = MotionLimits.of(robot)
    for times, samples in (
        ((2.0, 3.0), 500 + 96), ((2.0, 2.5, 3.0), 500 + 192), ((0.0, 1e-3), 2 + 96),
        ((0.0, 2.001e-1), 101 + 96),
    ):  # fmt: skip
        found = Surroundings().tool(robot, sweep(0.1, 0.05, times), limits)
        assert found.detail.endswith(f"({samples} of {samples} samples)")


def test_the_tool_point_is_looked_at_to_the_end_of_the_last_interval():
    """Half way at rest; 0.751 m are passed half way through the second interval.

    125 of 500 samples of the motion are beyond, and the ways to rest from four of eight states, of
    which twelve instants each are looked at: from that half way on the fall of the acceleration
    goes there, and with that acceleration braking takes no way.
    """
    box = Workspace((-LARGE, -LARGE, -LARGE), (LARGE, LARGE, 0.751))
    robot = slides(box, acceleration=1e6)
    found = Surroundings().tool(robot, sweep(times=(0.0, 0.5, 1.0)), MotionLimits.of(robot))
    assert found.detail.startswith(
        "the tool point leaves its box by up to 0.249 m beyond the upper z"
    )
    assert found.detail.endswith("at 1.000 s (173 of 692 samples)")


def test_how_far_and_when_the_tool_point_leaves_its_box_while_it_brakes_is_told():
    robot = slides(Workspace((-LARGE,) * 3, (LARGE, LARGE, 1.07)), acceleration=6.0)
    limits = MotionLimits.of(robot)
    found = Surroundings().tool(robot, sweep(), limits)
    q, v, a = (values[0] for values in sweep().sample([0.625]))
    end = q + v * 0.02 + a * 0.02**2 / 3.0
    rest = brake(limits, robot.joint_names, end, v + a * 0.01).positions[-1, 0]
    told = f"by up to {rest - 1.07:.3g} m beyond the upper z, while it brakes from 0.625 s"
    assert told in found.detail


def test_the_tool_point_is_that_behind_the_last_joint():
    """A third slide moves it sideways."""
    box = Workspace((-LARGE, -0.5, -LARGE), (LARGE, 0.5, LARGE))
    robot = slides(box, acceleration=6.0)
    turn = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
    third = replace(robot.joints[0], name="sideways", link="tool", antecedent=1, rotation=turn)
    robot = replace(robot, joints=(*robot.joints, third))
    still = np.zeros((2, 3))
    for end, passed in ((0.4, True), (-0.4, True), (0.6, False), (-0.6, False)):
        places = np.array([[0.0, 0.0, 0.0], [1.0, 1.0, end]])
        motion = Trajectory(robot.joint_names, np.array([0.0, 9.0]), places, still, still)
        assert Surroundings().tool(robot, motion, MotionLimits.of(robot)).passed == passed


def test_a_robot_without_a_box_has_no_check_of_its_tool():
    robot = slides(acceleration=6.0)
    assert Surroundings().tool(robot, sweep(), MotionLimits.of(robot)) is None


class Cell:
    """Stands for robot and cell: takes down what it is asked, and answers as it is told."""

    def __init__(self, kept=True, nearest=NEAREST):
        self.robot, self.clearance = slides(acceleration=6.0), 0.02
        self.remarks, self.asked, self.looked = ("assumed",), [], []
        self.answer = Clearance(kept, 0.02, nearest, 1, 1)
        self.check = self

    def __call__(self, tube, wanted):
        self.asked.append((tube, wanted))
        return self.answer

    def nearest(self, times, postures):
        self.looked.append((times, postures))
        return NEAREST


LIMITS = MotionLimits.of(slides(acceleration=6.0))


def test_nothing_is_kept_clear_of_where_nobody_says_what_is_there():
    unknown = Surroundings.around("no cell", prior=np.ones(3), off=np.ones(2))
    assert unknown.remarks == ("no cell",)
    assert (unknown.checked, unknown.prior.tolist(), unknown.off.tolist()) == (
        False,
        [1] * 3,
        [1] * 2,
    )
    assert unknown.intrusion(LIMITS, 0.1) is None
    assert unknown.clearance(sweep(), LIMITS) is None
    assert unknown.way_around(LIMITS, np.zeros(2), np.ones(2)) is None
    wanted = np.ones(2)
    assert unknown.free_posture(LIMITS, wanted) is wanted
    unknown.require_free(LIMITS, wanted)
    assert Surroundings().remarks[0].startswith("obstacles are not checked: nothing says")


@pytest.mark.parametrize("known", [False, True])
def test_plans_are_made_for_the_reference_temperature(known):
    robot = slides()
    warm = replace(
        robot.joints[0],
        terms=robot.joints[0].terms | {"Fvt", "Fct"},
        temperature=TemperatureDependence(35.0),
    )
    robot = replace(robot, joints=(warm, robot.joints[1]))
    prior = np.arange(float(len(robot.all_parameter_names))) if known else None
    plain, around = Surroundings(prior=prior).at_reference(robot)
    assert not plain.temperature_terms
    assert around.assumed == (
        ("efforts of up are those at the reference temperature",) if known else ()
    )
    if known:
        there = [n in plain.all_parameter_names for n in robot.all_parameter_names]
        np.testing.assert_array_equal(around.prior, prior[there])
    else:
        assert around.prior is None


def test_what_belongs_to_another_robot_is_refused():
    """Compiled code would read beyond the ends of its arrays, or check another arm."""
    robot = slides(acceleration=6.0)
    first, second = robot.joints
    moved = replace(robot, joints=(first, replace(second, translation=np.array([0.1, 0.0, 0.0]))))
    for around, error, told in (
        (Surroundings(np.ones(3)), ShapeError, r"prior has shape \(3,\)"),
        (Surroundings(off=np.ones(3)), ShapeError, r"off has shape \(3,\), expected \(2,\)"),
        (Surroundings(collisions=SimpleNamespace(robot=moved)), SettingError, "another geometry"),
    ):
        with pytest.raises(error, match=told):
            around.at_reference(robot)
    same = Surroundings(collisions=SimpleNamespace(robot=replace(robot, name="copy")))
    assert same.at_reference(robot)[1] is same


def test_without_a_prior_model_nothing_is_said_of_efforts():
    robot = slides(acceleration=6.0)
    assert Surroundings().efforts(robot, sweep(), LIMITS) is None
    masses = np.zeros(len(robot.all_parameter_names))
    masses[[9, 23]] = 2.0, 1.0
    found = Surroundings(masses).efforts(robot, sweep(), LIMITS)
    assert [peak.unit for peak in found.peaks] == ["N", "N"]
    assert found.peaks[0].bound >= 3.0 * (9.81 + 5.77), "lifted and speeded up"


def test_what_is_there_is_known():
    cell = Cell()
    around = Surroundings.around(cell, prior=np.ones(3), off=np.ones(2))
    assert around.remarks == ("assumed",)
    assert (around.checked, around.prior.tolist(), around.off.tolist()) == (True, [1] * 3, [1] * 2)
    assert around.collisions is cell


@pytest.mark.parametrize("off", [None, (0.25, 0.125)])
def test_distances_are_those_of_the_motion_and_of_braking_from_it(off):
    """With what the robot may be off its path, and off it while its acceleration falls."""
    cell = Cell()
    around = Surroundings.around(cell, off=None if off is None else np.array(off))
    assert around.clearance(sweep(), LIMITS) is cell.answer
    (tube, wanted), = cell.asked  # fmt: skip
    assert wanted == 0.02
    np.testing.assert_array_equal(tube.times, [0.0, 1.0])
    assert (tube.braking.release, tube.braking.acceleration.tolist()) == (0.02, [6.0, 6.0])
    np.testing.assert_array_equal(tube.braking.shortest, 0.0)
    most = np.array([10.0 / np.sqrt(3.0), 60.0])  # of the acceleration and the jerk
    slack = (most[0] * 0.02**2 + most[1] * 0.02**3) / 6.0 * np.array([1.0, 0.5])
    np.testing.assert_allclose(tube.slack, slack + np.array(off or (0.0, 0.0)), rtol=1e-6)
    assert not cell.looked


def test_where_all_is_far_the_smallest_distance_is_looked_for_among_200_postures():
    cell = Cell(nearest=None)
    found = Surroundings(collisions=cell).clearance(sweep(times=(2.0, 3.0)), LIMITS)
    assert (found.nearest, found.kept, found.wanted) == (NEAREST, True, 0.02)
    Surroundings(collisions=cell).clearance(sweep(times=(2.0, 2.5, 3.0)), LIMITS)
    for times, _ in cell.looked:
        np.testing.assert_allclose(times, np.linspace(2.0, 3.0, 200))
    (times, postures), (_, halves) = cell.looked
    np.testing.assert_allclose(postures, np.outer(place(times - 2.0), [1.0, 0.5]), atol=1e-12)
    np.testing.assert_allclose(halves[-1], [1.0, 0.5])


def test_a_posture_is_free_where_standing_there_is():
    cell = Cell()
    Surroundings(collisions=cell).require_free(LIMITS, np.array([0.25, 0.5]))
    (tube, _), = cell.asked  # fmt: skip
    np.testing.assert_array_equal(tube.times, [0.0, 1.0])
    np.testing.assert_array_equal(tube.coefficients[0, :, 0], [0.25, 0.5])
    np.testing.assert_array_equal(tube.coefficients[0, :, 1:], 0.0)
    near, far = (replace(NEAREST, distance=distance) for distance in (0.01, 0.05))
    begins = "where the motion begins: arm and post: "
    with pytest.raises(NotCertifiedError, match=begins + "0.0100 m; wanted 0.02 m: begin else"):
        Surroundings(collisions=Cell(nearest=near, kept=False)).require_free(LIMITS, np.zeros(2))
    off = Surroundings(collisions=Cell(nearest=far, kept=False), off=np.array([0.5, 0.5]))
    with pytest.raises(NotCertifiedError, match=begins + ".*off it by the allowed tracking error"):
        off.require_free(LIMITS, np.zeros(2))


@pytest.mark.parametrize("off", [None, (0.25, 0.125)])
def test_searches_know_by_how_much_the_robot_may_be_off(monkeypatch, off):
    cell, asked = SimpleNamespace(), []
    for name in ("Intrusion", "nearest_free", "way_around"):
        monkeypatch.setattr(surroundings, name, lambda *given: asked.append(given) or "found")
    around = Surroundings(collisions=cell, off=None if off is None else np.array(off))
    assert around.intrusion(LIMITS, 0.125) == "found"
    assert around.free_posture(LIMITS, "wanted") == "found"
    assert around.way_around(LIMITS, "begin", "end") == "found"
    for given in asked:
        assert given[0] is cell
        assert given[1] is LIMITS
    given = np.array([asked[0][2], asked[1][3], asked[2][2]])
    np.testing.assert_array_equal(given, [off or (0.0, 0.0)] * 3)
    assert [asked[0][3], asked[1][2], *asked[2][3:]] == [0.125, "wanted", "begin", "end"]
