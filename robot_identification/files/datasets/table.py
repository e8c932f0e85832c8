"""The table of published recordings: addresses, authors, licences and digests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from robot_identification.errors import SettingError
from robot_identification.files.datasets.conversion import emps_samples, tx40_samples
from robot_identification.signals.raw_samples import RawSamples

BAG = "bag"
"""Name of the bag that a conversion makes."""

_GITHUB = "https://raw.githubusercontent.com"
_EMPS = f"{_GITHUB}/forgi86/sysid-neural-continuous/956aa7ecd73061b0321c6f6098d74c9e4a7ce67a"
_TX40 = f"{_GITHUB}/thanhndv212/figaroh-plus/c3b5172849b744984b7181fd9d517c83fb4242e1"
_UR10 = f"{_GITHUB}/unisa-acg/inverse-dynamics-solver/41e196de5ca340f2b48e443484a7c74a77533da4"
_UR10_MODEL = f"{_GITHUB}/Gepetto/example-robot-data/058b923dc2e7fdde1049e00f2e2aa9b95a659a64"


@dataclass(frozen=True)
class DatasetFile:
    """A published file.

    The address names a commit, so that what it leads to never changes.

    Attributes:
        name: what it is called in the folder of its data set.
        address: public address.
        size: in bytes.
        sha256: hexadecimal digest.
        licence: under which it is published, where that is another than of the data set.
    """

    name: str
    address: str
    size: int
    sha256: str
    licence: str = ""


@dataclass(frozen=True)
class Dataset:
    """A published recording.

    Attributes:
        name: what ``datasets fetch`` calls it.
        title: what was recorded.
        robot: robot of this package that it is of.
        joint_names: names in its joint states.
        source: authors, as docs/references.md cites them.
        licence: licence and whose statement it is.
        files: what is downloaded.
        recording: name of the bag in the folder of the data set.
        convert: makes samples from the folder with the files; None where the recording is a bag.
    """

    name: str
    title: str
    robot: str
    joint_names: tuple[str, ...]
    source: str
    licence: str
    files: tuple[DatasetFile, ...]
    recording: str = BAG
    convert: Callable[[Path], RawSamples] | None = field(default=None, compare=False)

    @property
    def size(self) -> int:
        """What is downloaded, in bytes."""
        return sum(file.size for file in self.files)


DATASETS = {
    dataset.name: dataset
    for dataset in (
        Dataset(
            name="emps",
            title="EMPS, a positioning system with one joint, 24.8 s at 1 kHz, with its reference",
            robot="emps",
            joint_names=("slide",),
            source="Janot, Gautier and Brunot 2019",
            licence="Apache-2.0, of the repository that holds it "
            "(forgi86/sysid-neural-continuous); the files of its authors name none",
            files=(
                DatasetFile(
                    "DATA_EMPS.mat",
                    f"{_EMPS}/examples/EMPS/data/DATA_EMPS.mat",
                    626_039,
                    "6cf6814ae14618795da0101aae2bb97ff0c6351b0501b5492751b02b07facf7e",
                ),
                DatasetFile(
                    "LICENSE.md",
                    f"{_EMPS}/LICENSE.md",
                    11_347,
                    "fc7e8ab1c7a5059c25186b88b1c8768c9b5d8ed088e45af07c6d5e1674f94a2d",
                ),
            ),
            convert=emps_samples,
        ),
        Dataset(
            name="tx40",
            title="Staubli TX-40, one motion of six joints, 9 s at 5 kHz",
            robot="tx40",
            joint_names=tuple(f"joint_{number}" for number in range(1, 7)),
            source="Nguyen et al. 2023",
            licence="Apache-2.0 (thanhndv212/figaroh-plus)",
            files=(
                DatasetFile(
                    "pos_read_data.csv",
                    f"{_TX40}/examples/staubli_TX40/data/pos_read_data.csv",
                    2_101_824,
                    "5cc1cecc1024ef0e331d0caba06f689456ab789ec3f1e904599c0a8be5c27bc8",
                ),
                DatasetFile(
                    "curr_data.csv",
                    f"{_TX40}/examples/staubli_TX40/data/curr_data.csv",
                    2_357_129,
                    "f4592f4ba4db42f5d7625688986be25b575ca34d0504b27979ca6b0276bd3af9",
                ),
                DatasetFile(
                    "TX40_bp_5.csv",
                    f"{_TX40}/examples/staubli_TX40/results/TX40_bp_5.csv",
                    2_732,
                    "00dc377866e792e7dad787eaa719def4cc428aa0735c00216526a60f8df0dec6",
                ),
                DatasetFile(
                    "TX40_ep_5.csv",
                    f"{_TX40}/examples/staubli_TX40/results/TX40_ep_5.csv",
                    1_359,
                    "fe09197df7390990643a0f6e8742e787acd2c4071becd68b3e82d320a6cc9572",
                ),
                DatasetFile(
                    "LICENSE",
                    f"{_TX40}/LICENSE",
                    597,
                    "8385e8dcd5f592c5edb8483436b7a90f3a6ce4105b91ef37c7bec4e063749c1b",
                ),
            ),
            convert=tx40_samples,
        ),
        Dataset(
            name="ur10",
            title="UR10, one exciting motion of six joints, 27.5 s at 125 Hz, and a URDF as prior",
            robot="ur10",
            joint_names=(
                "shoulder_pan_joint",
                "shoulder_lift_joint",
                "elbow_joint",
                "wrist_1_joint",
                "wrist_2_joint",
                "wrist_3_joint",
            ),
            source="Petrone, Ferrentino and Chiacchio 2025",
            licence="BSD-3-Clause (unisa-acg/inverse-dynamics-solver)",
            files=(
                DatasetFile(
                    "ur10_exciting_trajectory.db3",
                    f"{_UR10}/ur10_inverse_dynamics_solver/bagfiles/ur10_exciting_trajectory.db3",
                    1_257_472,
                    "14244fc39e9b42047039824f3c20ab984f9d1b28d5a67e9415cc1b3cc0ac3369",
                ),
                DatasetFile(
                    "LICENSE",
                    f"{_UR10}/LICENSE",
                    1_539,
                    "256a20b7849a40c5d02f364e1ae351a538d1150c5e5b863d0cac78c6e815e9eb",
                ),
                DatasetFile(
                    "ur10_robot.urdf",
                    f"{_UR10_MODEL}/robots/ur_description/urdf/ur10_robot.urdf",
                    12_167,
                    "16e4d9c85f01d2533fa219d28e2e5a2ce93836be7afaf243b46be4ba76e0d4ea",
                    licence="BSD-3-Clause (Gepetto/example-robot-data)",
                ),
            ),
            recording="ur10_exciting_trajectory.db3",
        ),
    )
}
"""Every published recording, by its name."""


def dataset_named(name: str) -> Dataset:
    """Return a data set of the table.

    Raises:
        SettingError: there is none of that name; the message names those that there are.
    """
    if name not in DATASETS:
        raise SettingError("dataset", name, f"no data set has that name; {', '.join(DATASETS)} do")
    return DATASETS[name]
