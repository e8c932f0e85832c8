"""A plan around a search that answers as it is told: what is asked, tried next, and told."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from robot_identification.errors import (
    CancelledError,
    NotCertifiedError,
    SettingError,
    ShapeError,
)
from robot_identification.excitation import plan as planning
from robot_identification.excitation.certification.surroundings import Surroundings
from robot_identification.excitation.families.fourier_settings import FourierSettings
from robot_identification.excitation.motions.limits import MotionLimits
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.excitation.objective.unidentified import Unidentified
from robot_identification.excitation.plan import certified, plan, start_posture
from robot_identification.excitation.plan_settings import PlanSettings, default_model
from robot_identification.excitation.search.points import PointSettings, Quality
from robot_identification.identification.base.parameters import base_parameters
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.terms.joint_terms import DEFAULT_TERMS
from small_robots import pendulum, pendulum_values

LIMITS = {"lower": -2.0, "upper": 3.0, "velocity": 4.0, "acceleration": 10.0}
BEFORE, AFTER = Quality(50.0, 4.0, np.array([5.0, 0.1])), Quality(20.0, 2.0, np.array([4.0, 0.2]))


def sweep(end=1.0, begin=0.0, joints=("hinge",)):
    """Return a motion of one second from rest to rest; up to 1.875 rad/s and 5.77 rad/s^2."""
    still = np.zeros((2, len(joints)))
    places = np.repeat([[begin], [end]], len(joints), axis=1)
    return Trajectory(joints, np.array([0.0, 1.0]), places, still, still)


GOOD, FAR, FAST = sweep(), sweep(9.0), sweep(2.5)


class Search:
    """Takes down what it is asked, and finds motions as it is told, one list for each call."""

    def __init__(self, monkeypatch, *answers):
        self.answers, self.asked = list(answers), []
        monkeypatch.setattr(planning.search, "search", self)
        monkeypatch.setattr(planning, "condition_number", lambda _b, motion, rate: (motion, rate))
        told = (Unidentified("Fv1", "too slow"),)
        monkeypatch.setattr(planning, "unidentified", lambda _b, _m: told)

    def __call__(self, base, limits, posture, settings, **more):
        self.asked.append(SimpleNamespace(base=base, limits=limits, posture=posture,
                                          settings=settings, **more))  # fmt: skip
        motions = self.answers.pop(0) if self.answers else []
        return [
            SimpleNamespace(trajectory=motion, before=BEFORE, after=AFTER, rows=7,
                            optimizer="gradient", reduced=motion is GOOD)
            for motion in motions
        ]  # fmt: skip


def test_the_first_motion_that_passes_is_the_plan(monkeypatch):
    search = Search(monkeypatch, [FAR, FAST, GOOD, sweep(0.5)])
    robot = pendulum(**LIMITS)
    clock = iter((10.0, 12.5))
    monkeypatch.setattr(planning, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    found = plan(robot)
    assert found.trajectory is GOOD
    assert found.certificate.passed
    assert len(search.asked) == 1
    assert (found.robot, found.rows, found.optimizer) == ("pendulum", 7, "gradient")
    assert found.reduced is True
    assert (found.before, found.after) == (BEFORE, AFTER)
    assert found.trajectory_condition_number == (GOOD, 50.0), "sampled at 50 Hz"
    assert found.description is robot
    assert found.periodic is None
    assert found.seconds == 2.5
    assert found == replace(found, description=load_robot("scara")), "told by its name"
    assert found.settings == PlanSettings()


@pytest.mark.parametrize("asked_before", range(3))
def test_a_plan_that_is_cancelled_after_the_search_is_not_given_out(monkeypatch, asked_before):
    """Asked before the certificate, after it, and when the motion has been rated."""
    answers = iter([False] * asked_before + [True])
    Search(monkeypatch, [GOOD])
    with pytest.raises(CancelledError):
        plan(pendulum(**LIMITS), cancelled=lambda: next(answers))


@pytest.mark.parametrize("field", [{"duration": 3601.0}, {"rows": 100_001}])
def test_plans_longer_than_an_hour_or_of_more_rows_than_fit_are_refused(field):
    with pytest.raises(SettingError, match="at most"):
        PlanSettings(**field)


def test_other_seeds_and_narrower_limits_are_tried_thrice(monkeypatch):
    search = Search(monkeypatch, [FAR], [], [FAST])
    robot = pendulum(**LIMITS)
    settings = PlanSettings(start=np.array([0.5]), share=0.5)
    progress = object()

    def cancelled():
        return False

    with pytest.raises(NotCertifiedError, match="velocity"):
        plan(robot, settings, progress=progress, cancelled=cancelled)
    assert len(search.asked) == 3
    for number, asked in enumerate(search.asked):
        assert asked.seed_step == number
        assert asked.settings is settings
        assert asked.base.names == base_parameters(robot).names
        assert (asked.progress, asked.cancelled) == (progress, cancelled)
        assert asked.intrusion is None
        np.testing.assert_array_equal(asked.posture, [0.5])
        reach, middle, half = 0.7**number, 0.5, 0.999 * 2.5
        np.testing.assert_allclose(asked.limits.upper, 0.5 + reach * (middle + half - 0.5))
        np.testing.assert_allclose(asked.limits.lower, 0.5 + reach * (middle - half - 0.5))
        np.testing.assert_allclose(asked.limits.velocity, 2.0)
        np.testing.assert_allclose(asked.limits.acceleration, 5.0)


def test_where_no_motion_is_found_that_is_told(monkeypatch):
    search = Search(monkeypatch)
    with pytest.raises(NotCertifiedError, match=r"limits.*no trajectory was found"):
        plan(pendulum(**LIMITS))
    assert len(search.asked) == 3


def test_a_later_attempt_counts(monkeypatch):
    Search(monkeypatch, [FAR], [], [GOOD])
    assert plan(pendulum(**LIMITS)).trajectory is GOOD


def test_room_for_what_lies_between_samples_doubles_with_every_attempt(monkeypatch):
    search = Search(monkeypatch)
    rooms = []

    def intrusion(_around, limits, room):
        rooms.append((limits, room))
        return room

    monkeypatch.setattr(Surroundings, "intrusion", intrusion)
    with pytest.raises(NotCertifiedError):
        plan(pendulum(**LIMITS))
    assert [room for _, room in rooms] == pytest.approx([0.03, 0.06, 0.12])
    for (limits, room), asked in zip(rooms, search.asked, strict=True):
        assert asked.intrusion == room
        assert asked.limits is limits


def test_limits_of_jerk_and_effort_are_searched_within(monkeypatch):
    search = Search(monkeypatch, [GOOD])
    plan(pendulum(**LIMITS, jerk=100.0, effort=30.0), PlanSettings(share=0.5))
    once = MotionLimits.of(pendulum(**LIMITS, jerk=100.0, effort=30.0)).tightened(0.999, 0.5, 0.5)
    np.testing.assert_allclose(search.asked[0].limits.jerk, 0.5 * once.jerk)
    np.testing.assert_allclose(search.asked[0].limits.effort, once.effort)


def test_a_start_outside_the_narrowed_limits_widens_them(monkeypatch):
    """The start is at the limit itself, of which a search keeps 99.9 %."""
    for start in (3.0, -2.0):
        search = Search(monkeypatch)
        with pytest.raises(NotCertifiedError):
            plan(pendulum(**LIMITS), PlanSettings(start=np.array([start])))
        for asked in search.asked:
            assert asked.limits.lower <= start <= asked.limits.upper


def test_the_part_that_repeats_is_slowed_with_the_motion(monkeypatch):
    """Ninety or eighty-one percent of the speed: friction takes up to 9.4 N m of 8."""
    Search(monkeypatch, [GOOD])
    robot = pendulum(gravity=0.0, **LIMITS, effort=8.0)
    known = Surroundings(prior=pendulum_values(ZZ=0.1, MX=0.0, Fv=5.0))
    series = FourierSettings(base_frequency=0.2, harmonics=5, periods=2)
    found = plan(robot, PlanSettings(model="dynamic", fourier=series), surroundings=known)
    assert found.trajectory.duration == pytest.approx(1.0 / 0.81)
    assert found.periodic.base_frequency == pytest.approx(0.2 * 0.81)
    assert found.periodic.begins == pytest.approx(series.begins / 0.81)
    assert found.summary()["family"] == "fourier"
    assert found.summary()["periodic"]["harmonics"] == 5


def test_a_plan_is_told_in_plain_data(monkeypatch):
    Search(monkeypatch, [GOOD])
    found = plan(pendulum(**LIMITS), PlanSettings(points=PointSettings(seed=3)))
    found = replace(found, trajectory_condition_number=12.3456, seconds=1.5)
    assert found.headline == "2 points in 1 s for pendulum; condition number 12.35"
    assert repr(found).startswith(f"<Plan: {found.headline}")
    told = found.summary()
    assert {name: told[name] for name in list(told)[:18]} == {
        "robot": "pendulum", "model": "energy", "family": "quintic", "periodic": None,
        "condition_number": 20.0, "equilibrium": 2.0,
        "condition_number_start": 50.0, "equilibrium_start": 4.0,
        "trajectory_condition_number": 12.3456,
        "singular_values_start": [5.0, 0.1], "singular_values": [4.0, 0.2],
        "rows": 7, "optimizer": "gradient", "missing_parameters": {"Fv1": "too slow"},
        "seed": 3, "seconds": 1.5, "points": 2, "duration": 1.0,
    }  # fmt: skip
    assert told["sha256"] == found.certificate.digest
    assert len(found.records()) == 2


# Settings and where a plan starts.


def test_a_plan_is_made_as_documented_where_nobody_says():
    found = PlanSettings()
    assert (found.model, found.rows, found.duration, found.share) == ("energy", None, None, 0.98)
    assert (found.start, found.fourier, found.family) == (None, None, "quintic")


@pytest.mark.parametrize(
    ("name", "taken", "refused"),
    [
        ("share", (0.01, 1.0), (0.0, -0.5, 1.01)),
        ("rows", (2, 500, 100_000), (1, 0)),
        ("duration", (0.1, 500.0, 3600.0), (0.0, -1.0)),
        ("model", ("energy", "dynamic"), ("magic",)),
    ],
)
def test_settings_have_bounds(name, taken, refused):
    for value in taken:
        assert getattr(PlanSettings(**{name: value}), name) == value
    for value in refused:
        with pytest.raises(SettingError, match=name):
            PlanSettings(**{name: value})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"model": "energy"}, "model.*energy.*takes the model dynamic"),
        ({"rows": 5}, "rows.*5.*takes harmonics in place of rows"),
        ({"duration": 9.0}, "duration.*takes periods in place of a duration"),
        ({"points": PointSettings(optimizers=("powell", "gradient"))},
         "optimizer.*powell, gradient.*takes the optimizer gradient"),
        ({"points": PointSettings(optimizers=("powell",))}, "takes the optimizer gradient"),
    ],
)  # fmt: skip
def test_series_have_no_settings_of_motions_through_points(changes, words):
    about = {"model": "dynamic", "fourier": FourierSettings()}
    assert PlanSettings(**about).family == "fourier"
    with pytest.raises(SettingError, match=words):
        PlanSettings(**{**about, **changes})


def starts(start=None, **limits):
    robot = pendulum(**{**LIMITS, **limits})
    return start_posture(robot, MotionLimits.of(robot), start, Surroundings())


def test_a_plan_starts_at_zero_or_in_the_middle_where_zero_is_outside():
    assert starts() == [0.0]
    assert starts(lower=0.5, upper=2.5) == [1.5]
    assert starts(lower=-2.5, upper=-0.5) == [-1.5]
    assert starts(lower=0.0, upper=1.0) == [0.5], "at the limit is not inside"
    assert starts(lower=-1.0, upper=0.0) == [-0.5]
    assert starts(lower=-0.1, upper=0.9) == starts(lower=-0.9, upper=0.1) == [0.0]


def test_a_start_is_taken_up_to_the_limits():
    for place in (-2.0, 3.0, 0.7):
        assert starts([place]) == [place]
    for place in (-2.01, 3.01, np.nan):
        with pytest.raises(SettingError, match=r"start.*hinge has the limits -2 and 3"):
            starts([place])
    for wrong in ([], [0.0, 0.0], [[0.0]]):
        with pytest.raises(ShapeError, match=r"start.*\(1,\)"):
            starts(wrong)


def test_the_joint_that_starts_outside_is_named():
    robot = load_robot("scara")
    limits = MotionLimits.of(robot)
    wrong = np.array([limits.middle[0], limits.upper[1] + 0.01])
    with pytest.raises(SettingError, match="joint_2 has the limits"):
        start_posture(robot, limits, wrong, Surroundings())


def test_a_start_must_be_free(monkeypatch):
    asked = []
    monkeypatch.setattr(
        Surroundings, "require_free", lambda _s, limits, place: asked.append((limits, place))
    )
    starts([0.5])
    np.testing.assert_array_equal(asked[0][1], [0.5])
    monkeypatch.setattr(Surroundings, "free_posture", lambda _s, _limits, wanted: wanted + 0.25)
    assert starts() == [0.25]
    assert len(asked) == 1


def test_robots_with_friction_are_planned_with_the_dynamic_model():
    robot = load_robot("scara")
    assert default_model(robot) == "dynamic"
    bare = tuple(replace(joint, terms=("Ia",)) for joint in robot.joints)
    assert default_model(replace(robot, joints=bare)) == "energy"
    assert default_model(replace(robot, joints=(bare[0], robot.joints[1]))) == "dynamic"


@pytest.mark.parametrize(
    ("model", "prior", "informed"),
    [
        ("energy", pendulum_values(), True),
        ("dynamic", pendulum_values(), False),
        ("energy", None, False),
        ("energy", np.zeros(14), False),
    ],
)
def test_the_criterion_of_the_energy_model_knows_the_prior_model(
    monkeypatch, model, prior, informed
):
    search = Search(monkeypatch, [GOOD])
    robot = pendulum(**LIMITS)
    plan(robot, PlanSettings(model=model), surroundings=Surroundings(prior=prior))
    told = search.asked[0].settings.points.criterion.prior
    if not informed:
        assert told is None
        return
    names = base_parameters(robot).leading_names
    assert dict(zip(names, told, strict=True))["MX1"] == 1.0
    own = PlanSettings()
    given = replace(own.points.criterion, prior=2.0 * told)
    own = replace(own, points=replace(own.points, criterion=given))
    search = Search(monkeypatch, [GOOD])
    plan(robot, own, surroundings=Surroundings(prior=prior))
    assert search.asked[0].settings is own, "what somebody has said stays"


def test_friction_that_follows_the_load_is_that_of_the_prior(monkeypatch):
    robot = pendulum(**LIMITS)
    loaded = replace(robot.joints[0], terms=DEFAULT_TERMS | {"Fl"})
    robot = replace(robot, joints=(loaded,))
    for prior in (None, np.arange(1.0, len(robot.all_parameter_names) + 1.0)):
        search = Search(monkeypatch, [GOOD])
        plan(robot, PlanSettings(model="dynamic"), surroundings=Surroundings(prior=prior))
        loads = search.asked[0].base.robot.loads
        np.testing.assert_array_equal(loads, robot.loads if prior is None else prior)


# Slowed down for efforts: friction of 5 N m s at 1.875 rad/s takes 9.375 N m, braking 1 N m.

KNOWN = Surroundings(prior=pendulum_values(ZZ=0.1, MX=0.0, Fv=5.0))


@pytest.mark.parametrize(("effort", "power"), [(11.0, 0), (8.9, 1), (8.0, 2), (2.6, 13), (2.3, 14)])
def test_a_motion_is_slowed_by_tenths_as_far_as_its_efforts_need(effort, power):
    robot = pendulum(gravity=0.0, **LIMITS, effort=effort)
    found, certificate = certified(robot, GOOD, np.zeros(1), KNOWN)
    assert certificate.passed
    assert found.duration == pytest.approx(0.9**-power)


def test_what_no_speed_helps_stays_as_it_was_and_is_refused():
    """At a ninth of the speed it still takes 2.1 N m."""
    robot = pendulum(gravity=0.0, **LIMITS, effort=2.0)
    found, certificate = certified(robot, GOOD, np.zeros(1), KNOWN)
    assert found is GOOD
    assert not certificate.results["effort"]


def test_what_fails_for_other_reasons_than_efforts_is_not_slowed():
    robot = pendulum(gravity=0.0, **LIMITS)
    for motion, start in ((FAST, 0.0), (GOOD, 0.5)):
        found, certificate = certified(robot, motion, np.array([start]), KNOWN)
        assert found is motion
        assert not certificate.passed


def test_a_slower_motion_begins_at_the_posture_too():
    robot = pendulum(gravity=0.0, **LIMITS, effort=8.0)
    found, certificate = certified(robot, GOOD, np.array([0.5]), KNOWN)
    assert found.duration == pytest.approx(1.0 / 0.81)
    assert (certificate.results["effort"], certificate.results["start"]) == (True, False)
