"""No reader of XML defines or expands an entity, or looks at another file."""

import pytest

from robot_identification.errors import RobotDescriptionError
from robot_identification.files.export.urdf import describe
from robot_identification.files.export.urdf_rewriting import rewritten_urdf
from robot_identification.files.parameters import read_prior
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.urdf.prior import given_by_urdf, urdf_prior
from robot_identification.robot.files.urdf.robot import parse_urdf

ROBOT = load_robot("three_dof")
LAUGHS = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 30))
DOCUMENTS = {
    "billion laughs": f'<!DOCTYPE r [<!ENTITY l0 "ha">{LAUGHS}]><robot name="&l29;"/>',
    "quadratic": f'<!DOCTYPE r [<!ENTITY a "{"a" * 10**5}">]><robot name="{"&a;" * 10**4}"/>',
    "external": '<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]><robot>&a;</robot>',
    "parameter": '<!DOCTYPE r [<!ENTITY % a SYSTEM "file:///etc/passwd"> %a;]><robot/>',
    "external subset": '<!DOCTYPE robot SYSTEM "file:///etc/passwd"><robot/>',
}
READERS = {
    "load_robot": load_robot,
    "describe": describe,
    "prior": lambda path: read_prior(path, ROBOT),
    "urdf_prior": lambda path: urdf_prior(path, ROBOT),
    "given_by_urdf": lambda path: given_by_urdf(path, ROBOT),
    "parse_urdf": lambda path: parse_urdf(path.read_text(), str(path)),
    "rewritten_urdf": lambda path: rewritten_urdf(path.read_text(), ROBOT, [], name=str(path)),
}


@pytest.mark.parametrize("document", DOCUMENTS)
@pytest.mark.parametrize("reader", READERS)
def test_entities_are_refused(tmp_path, reader, document):
    path = tmp_path / "robot.urdf"
    path.write_text(DOCUMENTS[document])
    with pytest.raises(RobotDescriptionError, match="DOCTYPE"):
        READERS[reader](path)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_entities_are_refused_in_every_encoding(tmp_path, encoding):
    path = tmp_path / "robot.urdf"
    path.write_bytes(DOCUMENTS["billion laughs"].encode(encoding))
    with pytest.raises(RobotDescriptionError):
        load_robot(path)


def test_an_entity_that_nobody_defined_is_refused(tmp_path):
    path = tmp_path / "robot.urdf"
    path.write_text('<robot name="&a;"/>')
    with pytest.raises(RobotDescriptionError, match="not well-formed"):
        load_robot(path)
