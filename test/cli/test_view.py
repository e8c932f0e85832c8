"""The page of a motion, and what is said of a motion that was not certified."""

import numpy as np
import pytest

from robot_identification.cli.main import main
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.files.plans.trajectories import write_trajectory
from robot_identification.robot.files.loading import load_robot


def test_a_motion_that_is_too_fast_is_shown_with_the_checks_that_refuse_it(tmp_path, capsys):
    pytest.importorskip("coal", reason="the package coal is not installed")
    pytest.importorskip("jinja2", reason="needs the extra report")
    motion, page = tmp_path / "motion.yaml", tmp_path / "motion.html"
    positions, still = np.array([[0.0] * 6, [0.9, -0.6, 0.8, 0.7, 0.5, 0.4]]), np.zeros((2, 6))
    names = load_robot("tx40").joint_names
    write_trajectory(motion, Trajectory(names, np.array([0.0, 0.1]), positions, still, still))
    assert main(["view", "tx40", str(motion), "-o", str(page)]) == 0
    told, shown = capsys.readouterr().out, page.read_text()
    for text in (told, shown):
        assert "of the limit of joint_" in text
        assert "distances to obstacles were not checked" in text
    assert told.startswith("not certified: velocity: ")
    assert "Motion, not certified" in shown
