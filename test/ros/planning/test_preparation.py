"""Motions that are ready to begin: a plan at a speed, and from where the robot stands."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from made_up_cells import ARM
from robot_identification.errors import NotCertifiedError
from robot_identification.excitation.certification.certificate import certify
from robot_identification.excitation.certification.surroundings import Surroundings
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.ros.planning import preparation
from robot_identification.ros.planning.planning import PlanningJob, Sources, load_machine
from robot_identification.ros.planning.preparation import prepare


def planned(sources, begin, end):
    """Return a job and its plan: from one posture to another within two seconds."""
    machine = load_machine(sources)
    still = np.zeros((2, len(begin)))
    way = Trajectory(machine.robot.joint_names, [0.0, 2.0], [begin, end], still, still)
    certificate = certify(
        machine.robot, way, start=np.array(begin), surroundings=machine.surroundings
    )
    certificate.require()
    return PlanningJob(sources, None), SimpleNamespace(trajectory=way, certificate=certificate)


def test_a_run_at_reduced_speed_is_certified_by_itself(monkeypatch):
    job, plan = planned(Sources("scara"), [0.0, 0.0], [1.0, 1.0])
    assert prepare(job, plan, np.zeros(2), speed=0.5).run.duration == pytest.approx(4.0)
    monkeypatch.setattr(preparation, "slowed", lambda run, _: replace(run, times=run.times / 8.0))
    with pytest.raises(NotCertifiedError, match="velocity"):
        prepare(job, plan, np.zeros(2), speed=0.5)


def test_a_plan_without_room_for_a_larger_tracking_error_is_to_be_made_again():
    job, plan = planned(Sources("scara", tracking_error=(0.1, 0.1)), [0.0, 0.0], [2.9, 0.0])
    wider = replace(job, sources=replace(job.sources, tracking_error=(0.3, 0.3)))
    with pytest.raises(NotCertifiedError, match=r"joint_1 .*tracking_error_limit .*plan again"):
        prepare(wider, plan, np.zeros(2))


def test_distances_of_a_plan_hold_at_every_lower_speed(monkeypatch, tmp_path):
    """What just keeps its clearance must not be refused because it is cut into other cells.

    The tube of a motion, in which distances are checked, holds braking from every lower speed.
    """
    cell = tmp_path / "cell.yaml"
    cell.write_text(ARM)
    job, plan = planned(Sources("three_dof", cell=str(cell)), [0.0, 0.0, 0.0], [0.4, 0.3, 0.2])
    fast = prepare(job, plan, np.zeros(3))
    checked = []

    def clearance(around, trajectory, limits):
        found = known(around, trajectory, limits)
        if found is not None:
            checked.append(trajectory.duration)
        return found

    known = Surroundings.clearance
    monkeypatch.setattr(Surroundings, "clearance", clearance)
    slow = prepare(job, plan, np.zeros(3), speed=0.25)
    assert checked == [2.0]
    assert slow.run.duration == pytest.approx(8.0)
    assert slow.nearest.distance == fast.nearest.distance
    assert slow.nearest.time == pytest.approx(4.0 * fast.nearest.time)
    assert f"{slow.nearest.time:.3f} s" in slow.obstacles


def test_the_approach_leaves_joints_that_are_held_where_they_are():
    job, plan = planned(Sources("scara", held=("joint_2",)), [0.0, 0.5], [1.0, 0.5])
    near = prepare(job, plan, np.array([0.3, 0.495])).approach
    assert np.ptp(near.positions, axis=0) == pytest.approx([0.3, 0.005])
    with pytest.raises(NotCertifiedError, match=r"joint_2 is not to be moved.* 0\.8 from.*again"):
        prepare(job, plan, np.array([0.3, 1.3]))


def test_no_way_around_something_moves_a_joint_that_is_held(monkeypatch):
    """A detour is sought among postures of all joints."""
    job, plan = planned(Sources("scara", held=("joint_2",)), [0.0, 0.5], [1.0, 0.5])
    known = preparation.approach

    def detour(robot, trajectory, posture, **options):
        way, certificate = known(robot, trajectory, posture, **options)
        around = np.insert(way.positions, 1, [0.2, 0.9], axis=0)
        return Trajectory(way.joint_names, [0.0, 5.0, 10.0], around), certificate

    monkeypatch.setattr(preparation, "approach", detour)
    with pytest.raises(NotCertifiedError, match="leaves joint_2 where it is"):
        prepare(job, plan, np.array([0.3, 0.5]))
