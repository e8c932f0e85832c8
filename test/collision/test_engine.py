"""Meshes that are read by the library coal."""

import numpy as np
import pytest

from robot_identification.collision.engine import load_mesh
from robot_identification.errors import RobotDescriptionError

pytest.importorskip("coal")


def test_a_file_that_is_no_mesh_is_refused_with_what_is_wrong_and_nothing_of_the_library(tmp_path):
    path = tmp_path / "arm.stl"
    path.write_text("hello")
    with pytest.raises(RobotDescriptionError) as refused:
        load_mesh(path, np.ones(3))
    assert str(refused.value).endswith("arm.stl: cannot be read as a mesh: File is too small")
