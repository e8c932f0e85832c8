"""The commands payload and drive-gains: two 20 s runs of a simulated arm that carries 2 kg."""

from dataclasses import replace

import numpy as np
import pytest
import yaml

from live_nodes import ROBOT, TRUTH, motion
from payload_runs import BODY, QUANTITIES
from robot_identification.excitation.simulated_recording import (
    SimulationSettings,
    simulated_recording,
)
from robot_identification.files.bags.joint_states.reading import read_joint_states
from robot_identification.files.bags.writing import write_joint_states
from robot_identification.files.plans.trajectories import read_trajectory
from robot_identification.identification.payload.calibrate_drives import identify_drive_gains
from robot_identification.identification.payload.identify import identify_payload
from robot_identification.identification.payload.known import KnownPayload
from robot_identification.robot.drives import as_recorded
from robot_identification.robot.files.loading import load_robot
from robot_identification.robot.files.values import load_values
from robot_identification.robot.mounting import mounting
from robot_identification.share import share_directory
from robot_identification.signals.conditioning import joint_side_recording
from robot_identification.signals.raw_samples import RawSamples
from shared_data import measured_data, requires

NOISE = np.array([0.8, 0.8, 0.4, 0.2, 0.2, 0.12])  # N m, as config/simulations/tx40.yaml has it
ENCODER = 1e-5  # rad
FACTORS = (1.08, 0.93, 1.05, 0.9, 1.1, 0.95)
SEEDS = range(4)
RATE = 500.0
STATED = "2,0.08,-0.02,0.06,0.006,0.0005,-0.0004,0.007,0.0003,0.004"
INERTIA = STATED.split(",")[4:]


@pytest.fixture(scope="module")
def tx40():
    return load_robot("tx40")


@pytest.fixture(scope="module")
def clean(tx40):
    """Both motions before any sensor; noise does not change them."""
    path = share_directory() / "config" / "trajectories" / "tx40.yaml"
    values = load_values("tx40_simulated", tx40)
    loaded = mounting(tx40).with_body(values, BODY)
    settings = SimulationSettings(duration=20.0, rate_hz=RATE)
    return [
        simulated_recording(tx40, own, read_trajectory(path), settings).samples
        for own in (values, loaded)
    ]


def first_half(samples):
    kept = slice(0, len(samples.stamps) // 2 + 1)
    return RawSamples(
        samples.stamps[kept], samples.position[kept], None, np.array(samples.effort[kept])
    )


def measured(robot, clean, seed, factors=(1.0,) * 6):
    """Return what the sensors make of both motions."""
    recordings = []
    for loaded, samples in enumerate(clean):
        rng = np.random.default_rng((seed, loaded))
        effort = as_recorded(robot, samples.effort, factors)
        noisy = replace(
            samples,
            position=samples.position + ENCODER * rng.normal(size=samples.position.shape),
            effort=effort + NOISE * rng.normal(size=effort.shape),
        )
        recordings.append(joint_side_recording(noisy, robot, source=f"{seed}.{loaded}"))
    return recordings


def test_the_payload_of_noisy_pairs_of_runs(tx40, clean):
    errors, inside = [], []
    for seed in SEEDS:
        bare, loaded = measured(tx40, clean, seed)
        body = identify_payload(tx40, [bare], [loaded], mounting(tx40)).estimate.body
        errors.append(body.values - QUANTITIES)
        inside.append((body.lower <= QUANTITIES) & (body.upper >= QUANTITIES))
    worst = np.abs(errors).max(axis=0)
    assert worst[0] < 0.01 * BODY.mass
    assert np.linalg.norm(np.array(errors)[:, 1:4], axis=1).max() < 2e-3
    assert worst[4:].max() < 2e-3
    assert np.mean(inside) > 0.8


def test_drive_gains_of_noisy_pairs_of_runs(tx40, clean):
    known = KnownPayload(BODY.mass, BODY.centre, BODY.inertia)
    found, deviations = [], []
    for seed in SEEDS:
        bare, loaded = measured(tx40, clean, seed, FACTORS)
        result = identify_drive_gains(tx40, [bare], [loaded], mounting(tx40), known)
        found.append(result.estimate.factors / FACTORS - 1.0)
        deviations.append(result.estimate.std / FACTORS)
    assert np.sqrt(np.mean(np.square(found), axis=0)).max() < 0.01
    assert 1.96 * np.median(deviations, axis=0)[1:].max() < 0.01
    assert np.mean(np.abs(found) <= 1.96 * np.array(deviations)) > 0.8


@pytest.fixture(scope="module")
def bags(tx40, clean, tmp_path_factory):
    """Bags of the first half of both motions, also by drives whose gains are believed wrong."""
    folder = tmp_path_factory.mktemp("bags")
    for name, whole in zip(("bare", "loaded"), clean, strict=True):
        samples = first_half(whole)
        write_joint_states(folder / name, tx40.joint_names, samples, storage="sqlite3")
        wrong = replace(samples, effort=as_recorded(tx40, samples.effort, FACTORS))
        write_joint_states(folder / f"wrong_{name}", tx40.joint_names, wrong, storage="sqlite3")
    return folder


def test_a_payload_file_is_what_was_printed_and_serves_the_other_commands(
    run, refusal, bags, tmp_path
):
    target = tmp_path / "payload.yaml"
    pair = ("--bare", bags / "bare", "--loaded", bags / "loaded")
    done = run("payload", "tx40", *pair, "-o", target)
    assert done["body"]["mass"]["value"] == pytest.approx(2.0, rel=5e-3)
    assert done["frame"]["joint"] == "joint_6"
    assert done["rank"] == 10
    written = yaml.safe_load(target.read_text())
    assert written["body"] == done["body"]
    assert written["loaded"][0]["digest"] == done["loaded"][0]["digest"]
    gains = run("drive-gains", "tx40", *pair, "--payload", target)["gains"]
    assert [gain["factor"] for gain in gains] == pytest.approx([1.0] * 6, abs=0.03)
    target.write_text(target.read_text().replace("rank: 10", "rank: 9"))
    code, line = refusal("drive-gains", "tx40", *pair, "--payload", target)
    assert code == 2
    assert "checksum" in line


@pytest.mark.usefixtures("undiagnosed")
def test_an_earlier_result_stands_for_the_bare_runs(run, bags, tmp_path):
    result = tmp_path / "result.yaml"
    run("identify", "tx40", bags / "bare", "-o", result)
    both = run("payload", "tx40", "--bare", bags / "bare", "--loaded", bags / "loaded")
    one = run("payload", "tx40", "--result", result, "--loaded", bags / "loaded")
    for name, entry in both["body"].items():
        assert one["body"][name]["value"] == pytest.approx(entry["value"], abs=4 * entry["std"])
        assert one["body"][name]["std"] == pytest.approx(entry["std"], rel=0.5)


def test_gains_from_the_command_line_with_the_lines_for_the_robot_file(run, bags, capsys):
    from robot_identification.cli.main import main

    pair = ("--bare", bags / "wrong_bare", "--loaded", bags / "wrong_loaded")
    known = ("--mass", "2", "--centre", "0.08", "-0.02", "0.06", "--inertia", *INERTIA)
    done = run("drive-gains", "tx40", *pair, *known)
    factors = [gain["factor"] for gain in done["gains"]]
    np.testing.assert_allclose(factors, FACTORS, rtol=0.01)
    by_mass = run("drive-gains", "tx40", *pair, "--mass", "2")
    np.testing.assert_allclose([g["factor"] for g in by_mass["gains"]], FACTORS, rtol=0.03)
    arguments = ["drive-gains", "tx40", *pair, "--mass", "2", "--trust", "joint_1"]
    assert main([*map(str, arguments)]) == 0
    printed = capsys.readouterr().out
    assert "trusted" in printed
    assert "as multiples of those of the robot file" in printed


def test_gains_of_exchanged_runs_are_not_printed_for_the_robot_file(tmp_path, capsys):
    """The SCARA's file states no gains: those of its currents are the factors themselves."""
    from robot_identification.cli.main import main

    runs = []
    for name, values in (("bare", TRUTH), ("loaded", mounting(ROBOT).with_body(TRUTH, BODY))):
        q, tau = motion(values)
        stamps = 10**18 + 10**7 * np.arange(len(q), dtype=np.int64)
        samples = RawSamples(stamps, q, None, tau / 0.11)
        write_joint_states(tmp_path / name, ROBOT.joint_names, samples)
        runs.append(str(tmp_path / name))
    known = ["--mass", "2", "--centre", *STATED.split(",")[1:4], "--inertia", *INERTIA]
    for (bare, loaded), exchanged in ((runs, False), (runs[::-1], True)):
        command = ["drive-gains", "scara", "--bare", bare, "--loaded", loaded, *known]
        assert main([*command, "--effort-meaning", "current"]) == 0
        printed = capsys.readouterr().out
        assert ("for the robot file:" in printed) != exchanged
        assert ("all gains are negative" in printed) == exchanged
        assert "far from the believed" not in printed
        assert "the factors themselves, as the robot file states none" in printed


def test_simulate_carries_a_payload_and_records_with_other_gains(run, bags, tx40, tmp_path):
    options = ("tx40", "--trajectory", "tx40", "--duration", "10", "--rate", "500")
    factors = ",".join(map(str, FACTORS))
    run(
        *("simulate", *options, "-o", tmp_path / "bag", "--payload", STATED),
        *("--drive-gain-factors", factors, "--payload-frame", "joint_6"),
    )
    written, expected = (
        read_joint_states(bag, tx40.joint_names).samples
        for bag in (tmp_path / "bag", bags / "wrong_loaded")
    )
    np.testing.assert_allclose(written.position, expected.position, atol=1e-9)
    np.testing.assert_allclose(written.effort, expected.effort, atol=1e-6)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("payload", "--loaded", "LOADED"), "no bare run"),
        (("payload", "--bare", "BARE", "--loaded", "BARE"), "is the same recording"),
        (("payload", "--bare", "BARE", "--loaded", "LOADED", "--frame", "tool9"), "tool9"),
        (("drive-gains", "--bare", "BARE", "--loaded", "LOADED"), "weigh the payload"),
        (("drive-gains", "--bare", "BARE", "--loaded", "LOADED", "--mass", "-1"), "positive"),
        (
            ("drive-gains", "--bare", "BARE", "--loaded", "LOADED", "--mass", "1", "--trust", "x"),
            "no joint has this name",
        ),
        (
            ("drive-gains", "--bare", "BARE", "--loaded", "LOADED", "--payload", "FILE"),
            "at least its mass",
        ),
        (("simulate", "--trajectory", "tx40", "-o", "NEW", "--payload", "heavy"), "--payload"),
        (
            ("simulate", "--trajectory", "tx40", "-o", "NEW", "--drive-gain-factors", "0"),
            "positive",
        ),
    ],
)
def test_bad_input_is_refused_with_one_line(refusal, bags, tmp_path, command, words):
    (tmp_path / "file.yaml").write_text("centre: [0, 0, 0]\n")
    named = {
        "BARE": bags / "bare",
        "LOADED": bags / "loaded",
        "FILE": tmp_path / "file.yaml",
        "NEW": tmp_path / "new",
    }
    name, *rest = (named.get(part, part) for part in command)
    code, line = refusal(name, "tx40", *rest)
    assert code == 2
    assert words in line


@requires("ur10")
@pytest.mark.usefixtures("undiagnosed")
def test_a_measured_robot_that_carries_nothing_has_no_payload(run, tmp_path):
    bag = measured_data("ur10") / "ur10_exciting_trajectory.db3"
    settings = ("--velocity-threshold", "0.05")
    run("identify", "ur10", bag, *settings, "--end", "0.5", "-o", tmp_path / "half.yaml")
    done = run(
        *("payload", "ur10", "--result", tmp_path / "half.yaml", "--loaded", bag),
        *(*settings, "--begin", "0.5"),
    )
    lower, upper = done["body"]["mass"]["interval_95"]
    assert lower < 0.0 < upper
    assert upper - lower < 0.3
    assert done["consistent"] is None
    assert any("distinguishable from zero" in warning for warning in done["warnings"])
