"""The figure of a plan: every joint inside its limits, singular values before and after."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="needs the extra report")

from robot_identification.errors import MissingLimitError
from robot_identification.excitation.motions.approach import slowed
from robot_identification.excitation.motions.random_points import (
    RandomPointsSettings,
    random_points,
)
from robot_identification.report.figures.excitation import LIMIT, excitation_figure
from robot_identification.report.figures.style import png
from robot_identification.robot.files.loading import load_robot

ROBOT = load_robot("ur10")


@pytest.fixture(scope="module")
def trajectory():
    return random_points(ROBOT, RandomPointsSettings(points=5, draws=1)).trajectory


def drawn(panel):
    curves = [line for line in panel.lines if line.get_color() != LIMIT]
    limits = sorted(line.get_ydata()[0] for line in panel.lines if line.get_color() == LIMIT)
    return curves, limits


def panels(figure):
    """Return the panels of the motion, and the others, wherever they are."""
    found = figure.get_axes()
    motion = [panel for panel in found if drawn(panel)[1]]
    return motion, [panel for panel in found if panel not in motion]


def test_every_joint_is_drawn_with_its_limits(trajectory):
    figure = excitation_figure(ROBOT, trajectory, "motion")
    motion, others = panels(figure)
    assert not others
    assert len(motion) == 3 * len(ROBOT.joints)
    joint = ROBOT.joints[1].limits
    (position,), bounds = drawn(motion[3])
    assert bounds == [joint.lower, joint.upper]
    assert np.abs(position.get_ydata()).max() <= joint.upper
    np.testing.assert_allclose(position.get_ydata()[[0, -1]], trajectory.positions[[0, -1], 1])
    _, bounds = drawn(motion[5])
    assert bounds == [-joint.acceleration, joint.acceleration]
    low, high = motion[5].get_ylim()
    assert low < bounds[0] < bounds[1] < high


def test_the_approach_comes_before_time_zero(trajectory):
    way = slowed(trajectory, 0.5)
    motion, _ = panels(excitation_figure(ROBOT, trajectory, "motion", approach=way))
    run, before = drawn(motion[0])[0]
    assert run.get_xdata()[0] == 0.0
    assert before.get_xdata()[0] == pytest.approx(-way.duration)
    assert before.get_xdata()[-1] == pytest.approx(0.0)


def test_singular_values_before_and_after_are_drawn():
    values = np.array([300.0, 20.0, 0.5]), np.array([90.0, 30.0, 9.0])
    robot = load_robot("three_dof")
    trajectory = random_points(robot, RandomPointsSettings(points=5, draws=1)).trajectory
    figure = excitation_figure(robot, trajectory, "motion", singular_values=values)
    _, (panel,) = panels(figure)
    for line, expected in zip(panel.lines, values, strict=True):
        np.testing.assert_array_equal(line.get_ydata(), expected)
    words = [text.get_text() for text in panel.get_legend().get_texts()]
    assert "600" in words[0]
    assert "10" in words[1]
    assert png(figure).startswith(b"\x89PNG")


def test_a_robot_without_limits_cannot_be_drawn(trajectory):
    joints = tuple(replace(j, limits=replace(j.limits, acceleration=None)) for j in ROBOT.joints)
    with pytest.raises(MissingLimitError, match="acceleration"):
        excitation_figure(replace(ROBOT, joints=joints), trajectory, "motion")
