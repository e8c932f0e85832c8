"""Random robots, truths, priors and noise to calibrate, and an independent test of the outcome."""

from typing import NamedTuple

import numpy as np

from made_up_results import made_up_result
from random_robots import coupled_wrist, random_robot
from robot_identification.calibration.calibrate import calibrate
from robot_identification.calibration.consistency.checks import check_consistency
from robot_identification.calibration.prior import Prior
from robot_identification.files.export.urdf import identified_urdf
from robot_identification.robot.files.urdf.prior import values_of_urdf
from robot_identification.robot.model import RobotModel


class Case(NamedTuple):
    """A robot to calibrate."""

    robot: RobotModel
    truth: np.ndarray
    prior: Prior
    noise: float
    samples: int
    space: str
    rng: np.random.Generator


def random_case(rng):
    """Return a case; everything about it is drawn at random."""
    wrist = coupled_wrist() if rng.random() < 0.3 else ()
    joints = int(rng.integers(2 if wrist else 1, 8))
    robot = random_robot(rng, joints, wrist, depth_first=bool(rng.random() < 0.5))
    truth = random_truth(rng, robot)
    return Case(
        robot=robot,
        truth=truth,
        prior=random_prior(rng, robot, truth),
        noise=float(rng.choice([0.0, 1e-3, 1e-2, 0.1, 0.5])),
        samples=int(rng.choice([40, 120, 400])),
        space=str(rng.choice(["base", "essential"])),
        rng=rng,
    )


def random_truth(rng, robot):
    """Return parameters of a machine that can exist, from round bodies to needles."""
    values = rng.uniform(0.05, 2.0, size=len(robot.all_parameter_names))
    for j in range(len(robot.joints)):
        mass = 10.0 ** rng.uniform(-1.0, 1.3)
        rotation, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        spread = 10.0 ** rng.uniform(-5.0, -1.0, size=3)
        centre = rng.normal(size=3) * 0.2
        second = mass * (rotation @ np.diag(spread) @ rotation.T + np.outer(centre, centre))
        inertia = np.trace(second) * np.eye(3) - second
        own = values[14 * j : 14 * j + 14]
        own[:10] = [*inertia[np.triu_indices(3)], *(mass * centre), mass]
        own[10] = 10.0 ** rng.uniform(-3.0, 0.5)
        own[13] = rng.normal()
    if robot.couplings:  # the coupled rotor and friction must not exceed the others
        for kind in (10, 11):
            values[kind] = values[14 + kind] * rng.uniform(1.05, 3.0)
        place = robot.all_parameter_names.index("Fvm2")
        values[place] = 0.9 * min(values[11], values[25])
    return values


def random_prior(rng, robot, truth):
    """Return a prior that is near, far, impossible, full of gaps, or none."""
    names, model = robot.standard_names, robot.standard_indices
    kind = rng.choice(["near", "far", "impossible", "gaps", "none"])
    if kind == "none":
        return Prior.none(names)
    values = truth[model] * (1.0 + (0.1 if kind == "near" else 0.8) * rng.normal(size=len(names)))
    known = np.array([name[:2] not in ("Ia", "Fv", "Fc", "of") for name in names])
    if kind == "near":
        values = np.where(known, truth[model] * (1.0 + 0.1 * rng.normal()), values)
    if kind == "impossible":
        values = rng.normal(size=len(names))
    if kind == "gaps":
        known &= rng.random(len(names)) < 0.5
    return Prior.given(names, values, known, source=kind)


def publish(case):
    """Identify the robot of a case on random states and calibrate it to its prior."""
    result = made_up_result(
        case.robot, case.truth, case.rng, samples=case.samples, noise=case.noise
    )
    return calibrate(case.robot, result, case.prior, space=case.space)


def survives_urdf(robot, calibrated):
    """Tell whether the published parameters can exist after a URDF was written and read."""
    text = identified_urdf(robot, calibrated.values)
    values = values_of_urdf(text, robot, beside=calibrated.values)
    return check_consistency(robot, values).consistent and all(
        can_exist(values[14 * j : 14 * j + 10]) for j in range(len(robot.joints))
    )


def can_exist(ten):
    """Tell by mass and principal moments whether ten parameters are those of a body."""
    mass, centre = ten[9], ten[6:9] / ten[9]
    inertia = np.array(
        [[ten[0], ten[1], ten[2]], [ten[1], ten[3], ten[4]], [ten[2], ten[4], ten[5]]]
    )
    inertia = inertia - mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))
    a, b, c = np.linalg.eigvalsh(inertia)
    return bool(mass > 0.0 and a > 0.0 and a + b > c)
