"""Unit of length of COLLADA meshes."""

import numpy as np
import pytest

from robot_identification.collision.engine import load_mesh
from robot_identification.errors import RobotDescriptionError

pytest.importorskip("coal")

CORNERS = np.array([[0, 0, 0], [400, 0, 0], [0, 200, 0], [0, 0, 100]])
MESH = """<?xml version="1.0" encoding="utf-8"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
  <asset><contributor/>{unit}<up_axis>Z_UP</up_axis></asset>
  <library_geometries><geometry id="body"><mesh>
    <source id="corners">
      <float_array id="numbers" count="12">{numbers}</float_array>
      <technique_common><accessor source="#numbers" count="4" stride="3">
        <param name="X" type="float"/><param name="Y" type="float"/><param name="Z" type="float"/>
      </accessor></technique_common>
    </source>
    <vertices id="points"><input semantic="POSITION" source="#corners"/></vertices>
    <triangles count="4"><input semantic="VERTEX" source="#points" offset="0"/>
      <p>0 2 1 0 1 3 0 3 2 1 2 3</p></triangles>
  </mesh></geometry></library_geometries>
  <library_visual_scenes><visual_scene id="all">
    <node><translate>100 0 0</translate><instance_geometry url="#body"/></node>
  </visual_scene></library_visual_scenes>
  <scene><instance_visual_scene url="#all"/></scene>
</COLLADA>
"""


def written(tmp_path, unit):
    path = tmp_path / "fixture.dae"
    numbers = " ".join(map(str, CORNERS.ravel()))
    path.write_text(MESH.format(unit=unit, numbers=numbers))
    return path


@pytest.mark.parametrize(
    ("unit", "metres"),
    [
        ('<unit name="millimeter" meter="0.001"/>', 0.001),
        ('<unit meter="0.0254" name="inch"/>', 0.0254),
        ('<unit name="meter" meter="1"/>', 1.0),
        ("", 1.0),
    ],
)
def test_corners_count_in_the_unit_that_the_file_states(tmp_path, unit, metres):
    (corners,) = load_mesh(written(tmp_path, unit), np.array([1.0, 1.0, 2.0]))
    wanted = metres * (CORNERS + np.array([100, 0, 0])) * [1, 1, 2]
    np.testing.assert_allclose(np.unique(corners, axis=0), np.unique(wanted, axis=0), rtol=1e-6)


@pytest.mark.parametrize("length", ["0", "-1", "mm", "nan"])
def test_a_unit_without_a_length_is_refused(tmp_path, length):
    path = written(tmp_path, f'<unit meter="{length}"/>')
    with pytest.raises(RobotDescriptionError, match="must be the length of the unit in m, above 0"):
        load_mesh(path, np.ones(3))
