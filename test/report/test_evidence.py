"""What a report takes for the robot of a result."""

from dataclasses import replace

import pytest

pytest.importorskip("matplotlib", reason="needs the extra report")

from robot_identification.errors import ResultMismatchError
from robot_identification.files.results import read_result
from robot_identification.report.evidence import Request, gather
from robot_identification.report.verdicts import statements
from robot_identification.share import share_directory


def test_another_version_of_the_robot_file_is_told_and_no_other_geometry_taken(
    swinging_scara, tmp_path
):
    told = "the file of scara has changed since the identification"
    assert gather(Request(swinging_scara)).robot_warnings == ()
    shipped = (share_directory() / "config" / "robots" / "scara.yaml").read_text("utf-8")
    edited = tmp_path / "scara.yaml"
    edited.write_text(shipped + "\n# another version\n", "utf-8")
    evidence = gather(Request(swinging_scara, robot=str(edited)))
    (line,) = evidence.robot_warnings
    assert line.startswith(told)
    assert any(line in statement.text for statement in statements(evidence, ()))
    assert set(evidence.predictions) == {source.name for source in evidence.result.sources}
    edited.write_text(shipped.replace("d: 0.5", "d: 0.6"), "utf-8")
    with pytest.raises(ResultMismatchError, match="its geometry is not that of the identification"):
        gather(Request(swinging_scara, robot=str(edited)))


def test_recordings_of_one_name_are_all_drawn(swinging_scara, scara_bag, tmp_path):
    """Each was identified in a folder of its own; merged, the result has both by one name."""
    result = read_result(swinging_scara)
    (source,) = result.sources
    both = replace(result, sources=(source, source))
    path = tmp_path / "both.yaml"
    both.save(path)
    evidence = gather(Request(path, bags=(str(scara_bag), str(scara_bag))))
    assert tuple(evidence.predictions) == (source.name, f"{source.name} (2)")
