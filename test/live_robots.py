"""Simulated SCARAs with all their nodes, as simulation.launch.py starts them, without launch."""

import yaml

from robot_identification.robot.files.document import read_document
from robot_identification.robot.files.loading import find_robot, load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.ros.clients.processes import command
from robot_identification.ros.launching.suites import SIMULATED

ROBOT = load_robot("scara")
TRUTH = load_values("scara", ROBOT)
RATE = 50.0
PROCESSING = {"cutoff_hz": 20, "filter_order": 4, "rate_hz": RATE}  # short filters, short motions
# A busy machine delays states: nothing here depends on when they come.
SETTINGS = {
    "/**/excitation": {
        "state_timeout": 5.0,
        "start_lead": 0.5,
        "approach_speed": 1.0,
        "tracking_error_limit": [1.0],
        "starts": 1,
        "planning_niceness": 0,
    },
    "/**/simulated_robot": {"effort_noise": [0.02, 0.0015], "rate": RATE},
}


def start_robot(processes, folder, namespace, truth=TRUTH):
    """Start a SCARA with its nodes in a namespace; it has the parameters given."""
    values = dict(zip(ROBOT.all_parameter_names, truth.tolist(), strict=True))
    named = {name: values[name] for name in ROBOT.standard_names}
    robot, true_values, settings = (
        folder / f"{name}.yaml" for name in ("robot", "truth", "settings")
    )
    described = {**read_document(find_robot("scara")).data, "processing": PROCESSING}
    robot.write_text(yaml.safe_dump(described))
    true_values.write_text(yaml.safe_dump({"robot": "scara", "parameters": named}))
    document = {node: {"ros__parameters": given} for node, given in SETTINGS.items()}
    settings.write_text(yaml.safe_dump(document))
    given = {
        "robot": str(robot),
        "namespace": namespace,
        "truth": str(true_values),
        "params_file": str(settings),
    }
    for start in SIMULATED.starts(given):
        line = command(
            start.executable,
            parameters=start.parameters,
            remappings=start.remappings,
            namespace=start.namespace,
        )
        processes.start(f"{namespace.strip('/')}_{start.executable}", line)
