"""Files that requests to identify ask for."""

import shutil

import pytest
from robot_identification.srv import Identify, IdentifyDidim

from robot_identification.errors import OutputError
from robot_identification.files.output_folder import OutputFolder
from robot_identification.robot.files.loading import find_robot, load_robot
from robot_identification.robot.files.values import values_path
from robot_identification.ros.identification.outputs import check_output


def test_neither_the_robot_file_nor_the_start_of_didim_is_written_over(tmp_path):
    shutil.copy(find_robot("scara"), tmp_path / "arm.yaml")
    shutil.copy(values_path("scara"), tmp_path / "start.yaml")
    robot, outputs = load_robot(tmp_path / "arm.yaml"), OutputFolder(tmp_path, "identification")
    identify = Identify.Request(output="arm.yaml", overwrite=True)
    didim = IdentifyDidim.Request(output="start.yaml", overwrite=True)
    start = str(tmp_path / "start.yaml")
    for request, parameters in ((identify, ()), (didim, ("", "regular", start))):
        with pytest.raises(OutputError, match="is what was read"):
            check_output(request, outputs, robot, [request.data], parameters)
        request.output = "result.yaml"
        check_output(request, outputs, robot, [request.data], parameters)
