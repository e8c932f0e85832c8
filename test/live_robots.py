"""Simulated SCARAs with all their nodes, as simulation.launch.py starts them, without launch."""

import yaml

from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.ros.clients.processes import command
from robot_identification.ros.launching.suites import SIMULATED

ROBOT = load_robot("scara")
TRUTH = load_values("scara", ROBOT)
# A busy machine delays states: nothing here depends on when they come.
SETTINGS = {
    "/**/excitation": {
        "state_timeout": 5.0,
        "start_lead": 0.5,
        "tracking_error_limit": [1.0],
        "starts": 1,
        "planning_niceness": 0,
    },
    "/**/simulated_robot": {"effort_noise": [0.02, 0.0015], "rate": 50.0},
}


def start_robot(processes, folder, namespace, truth=TRUTH):
    """Start a SCARA with its nodes in a namespace; it has the parameters given."""
    values = dict(zip(ROBOT.all_parameter_names, truth.tolist(), strict=True))
    named = {name: values[name] for name in ROBOT.standard_names}
    true_values, settings = folder / "truth.yaml", folder / "settings.yaml"
    true_values.write_text(yaml.safe_dump({"robot": "scara", "parameters": named}))
    document = {node: {"ros__parameters": given} for node, given in SETTINGS.items()}
    settings.write_text(yaml.safe_dump(document))
    given = {
        "robot": "scara",
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
