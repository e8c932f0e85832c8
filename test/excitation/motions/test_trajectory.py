import numpy as np
import pytest

from robot_identification.errors import OutputError, ShapeError, TrajectoryError
from robot_identification.excitation.motions.trajectory import Trajectory
from robot_identification.files.plans.trajectories import read_trajectory, write_trajectory

NAMES = ("a", "b")
TIMES = np.array([0.5, 1.0, 2.5])
RNG = np.random.default_rng(0)
POSITIONS, VELOCITIES, ACCELERATIONS = RNG.normal(size=(3, 3, 2))


def trajectory(degree=5, **changes):
    columns = {
        "joint_names": NAMES,
        "times": TIMES,
        "positions": POSITIONS,
        "velocities": VELOCITIES if degree >= 3 else None,
        "accelerations": ACCELERATIONS if degree == 5 else None,
    }
    return Trajectory(**(columns | changes))


@pytest.mark.parametrize("degree", [1, 3, 5])
def test_the_points_are_met_in_all_that_they_give(degree):
    just_before = TIMES - 1e-9
    for times in (TIMES[:-1], just_before[1:]):
        position, velocity, acceleration = trajectory(degree).sample(times)
        place = slice(0, 2) if times is not None and times[0] == TIMES[0] else slice(1, 3)
        np.testing.assert_allclose(position, POSITIONS[place], atol=1e-7)
        if degree >= 3:
            np.testing.assert_allclose(velocity, VELOCITIES[place], atol=1e-6)
        if degree == 5:
            np.testing.assert_allclose(acceleration, ACCELERATIONS[place], atol=1e-5)


def test_without_velocities_the_way_is_straight():
    position, velocity, acceleration = trajectory(1).sample([0.75])
    np.testing.assert_allclose(position[0], POSITIONS[:2].mean(axis=0))
    np.testing.assert_allclose(velocity[0], (POSITIONS[1] - POSITIONS[0]) / 0.5)
    np.testing.assert_array_equal(acceleration, 0.0)


def test_velocity_and_acceleration_are_the_derivatives_of_position():
    times = np.linspace(0.6, 2.4, 50)
    times = times[np.abs(times - 1.0) > 1e-3]
    h = 1e-5
    position, velocity, acceleration = trajectory().sample(times)
    before, after = trajectory().sample(times - h)[0], trajectory().sample(times + h)[0]
    np.testing.assert_allclose((after - before) / (2 * h), velocity, atol=1e-6)
    np.testing.assert_allclose((after - 2 * position + before) / h**2, acceleration, atol=1e-3)


def test_outside_of_its_duration_it_stands_still():
    position, velocity, acceleration = trajectory().sample([0.0, 9.0])
    np.testing.assert_allclose(position, POSITIONS[[0, -1]])
    np.testing.assert_array_equal(velocity, 0.0)
    np.testing.assert_array_equal(acceleration, 0.0)


def test_a_single_point_is_a_place_to_be():
    single = Trajectory(NAMES, [1.0], [[0.1, 0.2]])
    np.testing.assert_array_equal(single.sample([0.0, 1.0, 2.0])[0], [[0.1, 0.2]] * 3)


@pytest.mark.parametrize(
    "points", [trajectory(1), trajectory(3), trajectory(5), Trajectory(NAMES, [1.0], [[0.1, 0.2]])]
)
def test_the_position_at_one_time_is_that_of_many(points):
    times = np.concatenate([TIMES, np.linspace(-1.0, 4.0, 41)])
    many = points.sample(times)[0]
    one_by_one = np.array([points.position(time) for time in times])
    np.testing.assert_allclose(one_by_one, many, rtol=1e-14, atol=1e-14)
    assert not points.position(1.0).flags.writeable


def test_joints_are_reordered_by_name():
    swapped = trajectory().reordered(("b", "a"))
    np.testing.assert_array_equal(swapped.sample([0.9])[1], trajectory().sample([0.9])[1][:, ::-1])
    with pytest.raises(TrajectoryError, match="name each of them once"):
        trajectory().reordered(("a", "c"))


@pytest.mark.parametrize("degree", [1, 3, 5])
def test_a_way_to_the_first_point_is_put_before_it(degree):
    start = np.array([1.0, 2.0]), np.array([0.1, 0.2]), np.array([0.0, 0.3])
    longer = trajectory(degree).preceded_by(-1.0, *start)
    position, velocity, _ = longer.sample([-1.0])
    np.testing.assert_allclose(position[0], start[0])
    if degree >= 3:
        np.testing.assert_allclose(velocity[0], start[1])
    times = np.linspace(0.5, 2.4, 7)
    np.testing.assert_allclose(longer.sample(times)[0], trajectory(degree).sample(times)[0])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"joint_names": ("a", "a")}, "once"),
        ({"times": [0.0, 0.0, 1.0]}, "increase"),
        ({"times": [0.0, np.nan, 1.0]}, "finite"),
        ({"times": []}, "at least one point"),
        ({"positions": np.array([[0.0, 0.0], [0.0, np.inf], [0.0, 0.0]])}, "joint b at point 1"),
        ({"velocities": None}, "without velocities"),
    ],
)
def test_what_cannot_be_followed_is_refused(changes, message):
    with pytest.raises(TrajectoryError, match=message):
        trajectory(**changes)


def test_a_wrong_shape_is_refused_by_name():
    with pytest.raises(ShapeError, match="velocities"):
        trajectory(velocities=np.zeros((3, 3)))


@pytest.mark.parametrize("degree", [1, 3, 5])
def test_a_file_gives_back_the_same_numbers(tmp_path, degree):
    path = tmp_path / "trajectory.yaml"
    write_trajectory(path, trajectory(degree), "a motion\nin two lines")
    back = read_trajectory(path)
    assert back.joint_names == NAMES
    for name in ("times", "positions", "velocities", "accelerations"):
        np.testing.assert_array_equal(getattr(back, name), getattr(trajectory(degree), name))
    with pytest.raises(OutputError):
        write_trajectory(tmp_path, trajectory(degree))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "needs joint_names"),
        ("joint_names: 3\npoints: []", "list of names"),
        ("joint_names: [a]\npoints:\n  - positions: [1]", ":3: point 0 needs time_from_start"),
        ("joint_names: [a]\npoints:\n  - {time_from_start: 0, place: [1]}", "unknown field place"),
        ("joint_names: [a]\npoints:\n  - {time_from_start: 0, positions: [x]}", "numbers"),
        ("joint_names: [a]\npoints:\n  - {time_from_start: 0, positions: [1, 2]}", "needs 1 val"),
        ("joint_names: [a]\npoints:\n  - {time_from_start: 0}", "points with positions"),
    ],
)
def test_a_wrong_file_is_refused_with_the_place(tmp_path, text, message):
    path = tmp_path / "trajectory.yaml"
    path.write_text(text)
    with pytest.raises(TrajectoryError, match=message):
        read_trajectory(path)
