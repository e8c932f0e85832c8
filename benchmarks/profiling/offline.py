"""Offline: from a bag in MCAP to a result, by the profiler."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from didim_seven_joints import Bench
from streaming import samples

from profiling.shares import Functions, parts, print_parts, profiled
from robot_identification.files.bags.files import Bag
from robot_identification.files.bags.joint_states import columns as joint_state_columns
from robot_identification.files.bags.joint_states.columns import StateCollector
from robot_identification.files.bags.joint_states.reading import read_joint_states
from robot_identification.files.bags.writing import write_joint_states
from robot_identification.files.mcap.messages import indexed_messages
from robot_identification.files.mcap.records import examine
from robot_identification.identification.diagnosis.fit import fit_findings
from robot_identification.identification.diagnosis.friction import law_findings
from robot_identification.identification.diagnosis.recorded.recording import recording_findings
from robot_identification.identification.identify import identify
from robot_identification.identification.result import IdentificationResult
from robot_identification.identification.rows.whole_rows import WholeRows
from robot_identification.identification.statistics.cross_validation import cross_validate
from robot_identification.signals.conditioning import joint_side_recording
from robot_identification.signals.processing.settings import resolve_processing
from robot_identification.signals.velocities import filtered_motion

AREAS: dict[str, Functions] = {
    "looking through the file: records, checksums": [examine],
    "SHA-256 of the file": [Bag.digest],
    "chunks: reading, checksums, where messages lie": [indexed_messages],
    "messages into columns": [StateCollector._columns_of, joint_state_columns._joined],
    "clock, gaps, joint side": [joint_side_recording],
    "settings from the data": [resolve_processing],
    "filters, derivatives": [filtered_motion],
    "regressor, decimation, factorisation": [WholeRows.rows],
    "held-out blocks predicted": [cross_validate],
    "findings: the recordings": [recording_findings],
    "findings: what one change would explain": [fit_findings],
    "findings: friction laws": [law_findings],
}


def measure(points: int) -> None:
    """Print where the time of an offline identification goes."""
    bench = Bench.of(points)
    raw = samples(bench)
    names = bench.robot.joint_names
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bag"
        write_joint_states(path, names, raw, storage="mcap")

        def work() -> IdentificationResult:
            read = read_joint_states(path, names)
            recording = joint_side_recording(read.samples, bench.robot, source=read.source)
            return identify(bench.robot, [recording])

        stats = profiled(work)
        begin = time.process_time()
        work()
        seconds = time.process_time() - begin
    whole = stats.total_tt  # type: ignore[attr-defined]
    length = len(raw.stamps)
    print_parts(f"offline: MCAP to result, {length} samples", parts(stats, whole, AREAS), "ms", 1e3)
    print(f"\nWithout the profiler: {seconds:.3g} s, {1e6 * seconds / length:.3g} us a sample.")
