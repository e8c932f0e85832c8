"""Plan an exciting trajectory, look at its certificate, and write its samples as CSV.

Usage: plan_trajectory.py ROBOT OUTPUT.csv
"""

import sys

import numpy as np

import robot_identification as ri

RATE = 100.0  # Hz


def main() -> None:
    """Plan, print, write."""
    robot = ri.load_robot(sys.argv[1])
    found = ri.plan(robot, model="energy", starts=1)
    print("\n".join(found.certificate.remarks))
    trajectory = found.trajectory
    print(f"condition number {found.trajectory_condition_number:.1f}, {trajectory.duration:.1f} s")
    for check in found.certificate.checks:
        print(f"passed {check.name} {check.detail}")

    time = np.arange(0.0, trajectory.duration, 1.0 / RATE)
    position, velocity, _ = trajectory.sample(time)
    header = ",".join(["time", *(f"{kind}_{n}" for kind in "qv" for n in robot.joint_names)])
    table = np.column_stack([time, position, velocity])
    np.savetxt(sys.argv[2], table, delimiter=",", header=header, comments="")


if __name__ == "__main__":
    main()
