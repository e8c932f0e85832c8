"""Plans of Fourier series beside plans of quintics of the same length.

Usage: families.py [ROBOT...] [--seeds N] [--periods N] [--free]     (tx40 and ur10 by default)

For every seed: condition number of the system that is optimised (of the whole periods, for series),
time of planning, and of the series what is beyond the highest harmonic in the whole periods of the
trajectory as it is interpolated by quintics, as power relative to all but the mean.  Plans keep
clear of the arm itself and of the floor, unless --free.
"""

from __future__ import annotations

import argparse
import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np

from robot_identification.collision.model import load_collision_model
from robot_identification.excitation.certification.surroundings import Surroundings
from robot_identification.excitation.families.fourier_settings import FourierSettings
from robot_identification.excitation.plan import Plan, plan
from robot_identification.excitation.plan_settings import PlanSettings
from robot_identification.excitation.search.points import PointSettings
from robot_identification.robot.files.loading import load_robot

RATE = 500.0


def beyond_the_band(found: Plan) -> list[float]:
    """Return the power of position, velocity and acceleration beyond the band, in dB."""
    repeats = found.periodic
    if repeats is None:
        return []
    samples = round(repeats.periods / repeats.base_frequency * RATE)
    times = repeats.begins + np.arange(samples) / RATE
    result = []
    for values in found.trajectory.sample(times):
        power = np.abs(np.fft.rfft(values, axis=0)[1:]) ** 2
        share = power[repeats.periods * repeats.harmonics :].sum(axis=0) / power.sum(axis=0)
        result.append(float(10.0 * np.log10(share.max())))
    return result


def main() -> None:
    """Print one line for every plan."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("robots", nargs="*", default=["tx40", "ur10"])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--periods", type=int, default=3)
    parser.add_argument("--free", action="store_true")
    options = parser.parse_args()
    series = FourierSettings(periods=options.periods)
    for name in options.robots:
        robot = load_robot(name)
        around = Surroundings()
        if not options.free:
            around = Surroundings.around(load_collision_model(name, robot))
        for seed in range(options.seeds):
            points = PointSettings(seed=seed)
            quintic = plan(
                robot,
                PlanSettings("dynamic", points, duration=series.duration),
                surroundings=around,
            )
            fourier = plan(
                robot, PlanSettings("dynamic", points, fourier=series), surroundings=around
            )
            ratio = fourier.after.condition_number / quintic.after.condition_number
            levels = ", ".join(f"{level:.0f}" for level in beyond_the_band(fourier))
            both = quintic.certificate.passed and fourier.certificate.passed
            print(
                f"{name} seed {seed}: quintic {quintic.after.condition_number:.2f} in "
                f"{quintic.trajectory.duration:.1f} s ({quintic.seconds:.0f} s of planning), "
                f"fourier {fourier.after.condition_number:.2f} in "
                f"{fourier.trajectory.duration:.1f} s ({fourier.seconds:.0f} s of planning), "
                f"ratio {ratio:.3f}; beyond the band {levels} dB; certified {both}",
                flush=True,
            )


if __name__ == "__main__":
    main()
