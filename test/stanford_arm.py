"""The Stanford arm of Lin 1992: published masses and tables."""

from pathlib import Path

import numpy as np
import yaml

from robot_identification.robot.files.loading import load_robot

PUBLISHED = yaml.safe_load((Path(__file__).parent / "reference" / "stanford.yaml").read_text())


def stanford_arm():
    """Return the robot and its published standard parameters (84,)."""
    values = np.zeros((6, 14))
    for row, link in zip(values, PUBLISHED["links"], strict=True):
        mass, centre = link["mass"], np.array(link["com"])
        tensor = np.diag(link["inertia"]) + mass * (
            centre @ centre * np.eye(3) - np.outer(centre, centre)
        )
        row[:10] = [*tensor[np.triu_indices(3)], *(mass * centre), mass]
    return load_robot("stanford"), values.ravel()


def table_2():
    """Return name -> printed value of every number of Table II."""
    printed = {}
    table = PUBLISHED["inertia_constants"]
    printed["m_3"] = table["m3"]
    for body in (2, 3, 4, 5, 6):
        for name, value in zip(("kx", "ky", "kz"), table[f"k{body}"], strict=True):
            if value is not None:
                printed[f"{name}_{body}"] = value
    for key, name in (
        ("U11_minus_U22", "U11-U22"), ("U33", "U33"), ("U12", "U12"), ("U13", "U13"), ("U23", "U23")
    ):  # fmt: skip
        printed |= {f"{name}_{body}": value for body, value in table[key].items()}
    return printed


def table_2_tolerance(name):
    """Return half a unit of the last printed digit.

    One number is an exception: U11 - U22 of body 2 is printed as 4.3850, while the published masses
    give 4.3849 (4.384865).
    """
    return 1.4e-4 if name == "U11-U22_2" else 5e-5


def step(time, sigma=10.0, angle=np.pi / 6):
    """Return the critically damped step: position, velocity, acceleration (eq. 64-66)."""
    fall = np.exp(-sigma * time)
    return (
        angle * (1.0 - (1.0 + sigma * time) * fall),
        angle * sigma**2 * time * fall,
        angle * (1.0 - sigma * time) * sigma**2 * fall,
    )
