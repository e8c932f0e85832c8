"""What ``ri.identify_didim`` takes for the first parameters and for the motion."""

import numpy as np
import pytest

import robot_identification as ri
from robot_identification.identification.didim import run as core
from swinging_scara import swinging_scara


@pytest.fixture(scope="module")
def robot():
    return ri.load_robot("scara")


@pytest.fixture(scope="module")
def run(robot):
    samples = swinging_scara()
    time = (samples.stamps - samples.stamps[0]) * 1e-9
    return ri.Recording.from_arrays(robot, time, samples.position, samples.effort)


@pytest.fixture(scope="module")
def result(robot, run):
    return ri.identify(robot, run)


@pytest.fixture
def asked(robot, run, monkeypatch):
    """Return a function that tells with what references and start DIDIM would begin."""

    def didim(robot, recordings, references, *, start, **_):
        return references, start

    monkeypatch.setattr(core, "identify_didim", didim)
    return lambda **options: ri.identify_didim(robot, run, **{"trajectory": "scara"} | options)


def test_parameters_of_every_kind_are_a_start(result, asked, tmp_path):
    values = result.estimate.values
    result.save(tmp_path / "result.yaml")
    for given in (result, values, list(values), tmp_path / "result.yaml"):
        _, start = asked(start=given)
        np.testing.assert_array_equal(start.values, values)
    assert asked(start="idim")[1] == "idim"
    assert asked()[1] == "regular"
    with pytest.raises(ri.ShapeError, match=r"\(8,\)"):
        asked(start=np.ones(9))


def test_a_prior_that_no_start_reads_is_refused(asked):
    with pytest.raises(ri.SettingError, match="prior = scara: is read with the start prior only"):
        asked(prior="scara")
    assert asked(start="prior", prior="scara")[1].values[0] == pytest.approx(3.45)


def test_a_motion_is_named_as_for_a_simulation(robot, asked):
    shipped = ri.simulate(robot, "scara", settings=ri.SimulationSettings(duration=0.5)).trajectory
    of_name, of_value = (asked(trajectory=given)[0][0] for given in ("scara", shipped))
    np.testing.assert_array_equal(of_name.coefficients, of_value.coefficients)
