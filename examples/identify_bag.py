"""Identify a robot from bags, and say which parameters can be trusted.

Usage: identify_bag.py ROBOT BAG...
"""

import sys

import robot_identification as ri


def main() -> None:
    """Read, identify, print."""
    robot = ri.load_robot(sys.argv[1])
    result = ri.identify(robot, ri.read_bags(robot, sys.argv[2:]), held_out_fraction=0.25)

    estimate = result.estimate
    names = result.regrouping.names
    for name, value, std in zip(names, estimate.values, estimate.std_robust, strict=True):
        trusted = "" if std < 0.1 * abs(value) else "  not to be trusted alone"
        print(f"{name:8} {value:11.4g} +- {std:.2g}{trusted}")
    print(f"error on the quarter that was not fitted: {result.held_out.total:.3f}")


if __name__ == "__main__":
    main()
