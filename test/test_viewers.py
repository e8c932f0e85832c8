"""Configurations of RViz and PlotJuggler: they show topics, namespaces and fields that exist."""

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import yaml

from robot_identification.collision.markers import CELL, CLOSEST, SWEPT
from test_security import profiles

ROOT = Path(__file__).resolve().parents[1]
RVIZ = sorted((ROOT / "config" / "rviz").glob("*.rviz"))
LAYOUTS = sorted((ROOT / "config" / "plotjuggler").glob("*.xml"))
OF_THE_DRIVER = {"/robot_description"}
MESSAGES = {
    "/excitation/status": "ExcitationStatus",
    "/excitation/progress": "Progress",
    "/identification/progress": "Progress",
}


def published():
    """Return the names of the topics that the nodes publish, without a namespace."""
    return {
        "/" + (f"{node}{name[1:]}" if name.startswith("~") else name)
        for node, rights in profiles().items()
        for name in rights["topics", "publish"]
    }


def displays(path):
    return yaml.safe_load(path.read_text())["Visualization Manager"]["Displays"]


def topics(entry):
    """Return the topics of a display."""
    return [value for key, value in entry.items() if key in ("Topic", "Description Topic")]


def test_rviz_shows_what_the_nodes_publish():
    assert RVIZ
    for path in RVIZ:
        shown = [topic for entry in displays(path) for topic in topics(entry)]
        assert {topic["Value"] for topic in shown} <= published() | OF_THE_DRIVER
        assert "/excitation/markers" in {topic["Value"] for topic in shown}
        assert {topic["Durability Policy"] for topic in shown} == {"Transient Local"}


def test_rviz_switches_the_namespaces_of_the_markers():
    for path in RVIZ:
        (markers,) = (one for one in displays(path) if one["Class"].endswith("/MarkerArray"))
        assert set(markers["Namespaces"]) == {CELL, SWEPT, CLOSEST}


def test_plotjuggler_draws_fields_of_messages_that_the_nodes_publish():
    assert LAYOUTS
    assert set(MESSAGES) <= published()
    for path in LAYOUTS:
        curves = [curve.get("name") for curve in ET.parse(path).getroot().iter("curve")]
        assert len(curves) == len(set(curves)) > 10
        for curve in curves:
            topic, field = curve.rsplit("/", 1)
            definition = (ROOT / "msg" / f"{MESSAGES[topic]}.msg").read_text()
            name, index = re.fullmatch(r"(\w+?)(\[\d\])?", field).groups()
            kind = re.search(rf"^(\S+) {name}\b(?!=)", definition, re.MULTILINE)
            assert kind, curve
            assert kind[1].endswith("[]") == (index is not None), curve


def test_every_tab_has_as_many_plots_as_it_says():
    for path in LAYOUTS:
        for splitter in ET.parse(path).getroot().iter("DockSplitter"):
            assert len(splitter.findall("DockArea")) == int(splitter.get("count"))
            sizes = [float(size) for size in splitter.get("sizes").split(";")]
            assert len(sizes) == int(splitter.get("count"))
