"""Pages of motions opened in a real browser: the arm, its cell and the closest pair are drawn."""

import struct
from itertools import product

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from browser import look_at, needs_browser
from robot_identification.cli.main import main
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.files.plans.trajectories import write_trajectory
from robot_identification.robot.files.loading import load_robot

pytest.importorskip("coal", reason="the package coal is not installed")
pytest.importorskip("jinja2", reason="needs the extra report")
pytestmark = needs_browser

LOOK = """
async function look(width) {
  const [frame, page] = await opened(width);
  const [canvas, slider, clock, closest, play] =
    ['view', 'time', 'clock', 'closest', 'play'].map(id => page.getElementById(id));
  const Event = frame.contentWindow.Event;
  function picture() {
    const { width, height } = canvas;
    const pixels = canvas.getContext('2d').getImageData(0, 0, width, height).data;
    const seen = { pixels, all: width * height, arm: 0, cell: 0, red: 0, clock: clock.textContent };
    for (let i = 0; i < pixels.length; i += 4) {
      const r = pixels[i], g = pixels[i + 1], b = pixels[i + 2], cover = pixels[i + 3];
      const colourful = Math.max(r, g, b) - Math.min(r, g, b) > 0.2 * Math.max(r, g, b);
      if (cover > 200 && r > 1.7 * g && r > 1.7 * b) seen.red++;
      else if (cover === 255 && colourful) seen.arm++;
      else if (cover > 0 && !colourful) seen.cell++;
    }
    return seen;
  }
  function changed(one, other) {
    const [a, b] = [one, other].map(seen => new Uint32Array(seen.pixels.buffer));
    let count = 0;
    for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) count++;
    return count / one.all;
  }
  function slide(place) {
    slider.value = place;
    slider.dispatchEvent(new Event('input'));
    return picture();
  }
  const counts = ({ pixels, ...others }) => others;
  const first = picture(), later = slide(Math.round(slider.max / 3)), back = slide(0);
  closest.click();
  const pair = picture();
  closest.click();
  canvas.setPointerCapture = () => 0;  // which only a real pointer can have
  slide(0);
  for (const [kind, x] of [['pointerdown', 100], ['pointermove', 180], ['pointerup', 180]]) {
    const Pointer = frame.contentWindow.PointerEvent;
    canvas.dispatchEvent(new Pointer(kind, { pointerId: 1, clientX: x, clientY: 100 }));
  }
  const turned = picture();
  canvas.dispatchEvent(new frame.contentWindow.WheelEvent('wheel', { deltaY: -500 }));
  const nearer = picture();
  slide(0);
  play.click();
  for (let i = 0; i < 600 && slider.value === '0'; i++) {
    await new Promise(done => setTimeout(done, 50));
  }
  const root = page.documentElement;
  return {
    width, first: counts(first), later: counts(later), pair: counts(pair),
    offered: !closest.hidden, size: [canvas.clientWidth, canvas.clientHeight],
    moved: changed(first, later), returned: changed(first, back), turned: changed(first, turned),
    nearer: changed(turned, nearer), played: slider.value !== '0',
    overflow: root.scrollWidth - root.clientWidth, text: page.body.innerText,
  };
}
"""
URDF = """<robot name="crane">
  <link name="base"><collision><geometry><cylinder radius="0.1" length="0.2"/></geometry>
    <origin xyz="0 0 0.1"/></collision></link>
  <link name="mast"><collision><origin xyz="0 0 0.3"/>
    <geometry><box size="0.1 0.1 0.5"/></geometry></collision></link>
  <link name="boom"><collision><geometry><mesh filename="boom.stl"/></geometry></collision></link>
  <joint name="slew" type="revolute"><parent link="base"/><child link="mast"/>
    <origin xyz="0 0 0.25"/><axis xyz="0 0 1"/>
    <limit lower="-3" upper="3" effort="90" velocity="2"/></joint>
  <joint name="luff" type="revolute"><parent link="mast"/><child link="boom"/>
    <origin xyz="0 0 0.6"/><axis xyz="0 1 0"/>
    <limit lower="-1.5" upper="1.5" effort="90" velocity="2"/></joint>
</robot>"""
LIMITS = """joint_limits:
  slew: {has_acceleration_limits: true, max_acceleration: 10.0}
  luff: {has_acceleration_limits: true, max_acceleration: 10.0}
"""


def write_boom(path):
    """Write a wedge that is 0.8 m long, as a binary STL."""
    corners = np.array([*product((0.08, 0.9), (-0.06, 0.06), (-0.06, 0.06))])
    corners[4:, 1:] *= 0.4
    faces = ConvexHull(corners).simplices
    triangles = b"".join(
        struct.pack("<12fH", 0, 0, 0, *corners[face].ravel(), 0) for face in faces.tolist()
    )
    path.write_bytes(bytes(80) + struct.pack("<I", len(faces)) + triangles)


def write_motion(path, robot, *postures):
    """Write a motion through postures, at rest at each, and return its file."""
    positions = np.array(postures, dtype=float)
    still, times = np.zeros_like(positions), 3.0 * np.arange(len(positions))
    names = load_robot(robot).joint_names
    write_trajectory(path, Trajectory(names, times, positions, still, still))
    return path


def ur10(folder, target):
    """The motion of a robot file that passes over a table, beside a second arm."""
    folded = [0.0, -1.6, 1.2, -1.2, -1.6, 0.0]
    plan = write_motion(folder / "plan.yaml", "ur10", folded, [1.0, -1.0, 1.4, -2.0, -1.6, 0.5])
    cell = folder / "cell.yaml"
    cell.write_text(
        "obstacles:\n"
        "  - {name: table, box: [0.6, 1.4, 0.04], at: [0.9, 0.3, 0.1]}\n"
        "arms:\n  - {name: other, robot: ur10, at: [-0.9, -1, 0], position: {elbow_joint: 2.0}}\n"
    )
    return ["view", "ur10", plan, "--cell", cell, "-o", target]


def tx40(folder, target):
    """A motion of a robot given by Denavit-Hartenberg parameters."""
    plan = write_motion(folder / "plan.yaml", "tx40", [0.0] * 6, [0.9, -0.6, 0.8, 0.7, 0.5, 0.4])
    return ["view", "tx40", plan, "-o", target]


def crane(folder, target):
    """A URDF with a cylinder, a box and a mesh."""
    urdf, limits = folder / "crane.urdf", folder / "joint_limits.yaml"
    urdf.write_text(URDF)
    limits.write_text(LIMITS)
    write_boom(folder / "boom.stl")
    plan = write_motion(folder / "plan.yaml", urdf, [-1.0, 0.0], [1.0, 0.8], [0.0, -0.7])
    return ["view", urdf, plan, "--limits", limits, "-o", target]


@pytest.fixture(scope="module", params=[ur10, tx40, crane], ids=lambda robot: robot.__name__)
def seen(request, tmp_path_factory):
    """What the browser sees of a robot at two widths; its console; its requests."""
    folder = tmp_path_factory.mktemp(request.param.__name__)
    target = folder / "motion.html"
    assert main([*map(str, request.param(folder, target))]) == 0
    return look_at(target, folder / "profile", look=LOOK)


def test_arm_and_cell_are_drawn_at_every_width(seen):
    for view in seen[0]:
        assert "error" not in view, view
        assert view["overflow"] == 0
        assert view["size"][0] > 0.8 * min(view["width"], 1024)
        assert view["size"][1] > 300
        for picture in (view["first"], view["later"]):
            assert picture["arm"] > 0.01 * picture["all"]
            assert picture["cell"] > 0.05 * picture["all"]
            assert picture["red"] == 0


def test_the_slider_moves_the_arm_and_play_moves_the_slider(seen):
    for view in seen[0]:
        assert view["moved"] > 0.01
        assert view["returned"] == 0.0
        assert view["first"]["clock"] == "0.00 s"
        assert view["later"]["clock"] != "0.00 s"
        assert view["played"]


def test_the_closest_pair_is_drawn_in_red_with_its_distance(seen):
    for view in seen[0]:
        assert view["offered"]
        assert view["pair"]["red"] > 50
        assert view["pair"]["clock"].endswith(" mm")


def test_the_view_turns_and_comes_nearer(seen):
    for view in seen[0]:
        assert view["turned"] > 0.05
        assert view["nearer"] > 0.05


def test_the_page_opens_without_errors_and_loads_nothing(seen):
    views, console, asked = seen
    assert console == []
    assert set(asked) == {"/motion.html"}
    assert all("CERTIFIED MOTION" in view["text"].upper() for view in views)


def test_a_page_that_draws_nothing_would_be_noticed(tmp_path):
    target = tmp_path / "motion.html"
    assert main([*map(str, crane(tmp_path, target))]) == 0
    text = target.read_text("utf-8")
    assert "raster.show();" in text
    blank = text.replace("raster.show();", "console.error('heard');")
    target.write_text(blank, "utf-8")
    views, console, _ = look_at(target, tmp_path / "profile", widths=[390], look=LOOK)
    assert views[0]["first"]["arm"] == views[0]["pair"]["red"] == 0
    assert any("heard" in line for line in console)
