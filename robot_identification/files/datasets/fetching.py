"""Published recordings, downloaded, tested against their digests, and made into bags.

A file appears in its folder when it is the published one, bit by bit, and a bag when it is whole.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from robot_identification.errors import DownloadError, MissingPackageError, OutputError
from robot_identification.files.atomic import made_folder, write_text_atomically
from robot_identification.files.bags.writing import write_joint_states
from robot_identification.files.datasets.table import Dataset, DatasetFile, dataset_named

RECORD = "dataset.yaml"
"""File beside the recording that says where it is from; it is written last."""

_TIMEOUT = 30.0  # s without a byte until a server counts as not answering
_CHUNK = 1 << 16  # bytes at a time


@dataclass(frozen=True)
class FetchedDataset:
    """A data set on this machine.

    Attributes:
        dataset: its entry in the table.
        folder: where its files are.
        downloaded: names of the files that were downloaded just now.
    """

    dataset: Dataset
    folder: Path
    downloaded: tuple[str, ...] = ()

    @property
    def recording(self) -> Path:
        """The bag."""
        return self.folder / self.dataset.recording


def cache_folder() -> Path:
    """Return the folder where data sets are kept: ``XDG_CACHE_HOME``, else ``~/.cache``."""
    caches = os.environ.get("XDG_CACHE_HOME", "")
    start = Path(caches) if Path(caches).is_absolute() else Path.home() / ".cache"
    return start / "robot_identification" / "datasets"


def find_dataset(name: str, folder: Path | None = None) -> FetchedDataset | None:
    """Return a data set that was fetched before, None where it was not, or not wholly.

    Args:
        name: of the data set.
        folder: that it was fetched to; None: the cache folder.

    Raises:
        SettingError: no data set has that name.
    """
    dataset = dataset_named(name)
    place = (folder or cache_folder()) / name
    whole = (place / RECORD).is_file() and all(
        (place / file.name).is_file() for file in dataset.files
    )
    return (
        FetchedDataset(dataset, place) if whole and (place / dataset.recording).exists() else None
    )


def fetch_dataset(
    name: str, folder: str | Path | None = None, *, tell: Callable[[str], None] | None = None
) -> FetchedDataset:
    """Download a published recording, and make a bag of it where it is none.

    What is there already and is what was published stays; what is damaged is fetched again.

    Args:
        name: of the data set, such as ``ur10``.
        folder: where a folder of that name is made; None: the cache folder.
        tell: takes a line of text: whose the data are and their licence before anything is
            downloaded, then every file.

    Raises:
        SettingError: no data set has that name.
        MissingPackageError: pooch is not installed.
        DownloadError: no network, or what came is not what was published.
        OutputError: the folder cannot be written to.
    """
    dataset = dataset_named(name)
    tell = tell or _silent
    place = (Path(folder) if folder is not None else cache_folder()).absolute() / name
    missing = [file for file in dataset.files if not _is_published(place / file.name, file)]
    _tell_terms(dataset, tell)
    if missing:
        retrieve = _pooch()
        made_folder(place)
        for file in missing:
            tell(f"downloading {file.name}, {size_text(file.size)}: {file.address}")
            _download(retrieve, file, place)
    _convert(dataset, place, tell)
    return FetchedDataset(dataset, place, tuple(file.name for file in missing))


def size_text(size: int) -> str:
    """Return a number of bytes for people."""
    return f"{size / 1e6:.1f} MB" if size >= 1e5 else f"{size / 1e3:.1f} kB"


def _silent(line: str) -> None:
    """Tell nobody."""


def _tell_terms(dataset: Dataset, tell: Callable[[str], None]) -> None:
    tell(f"{dataset.name}: {dataset.title}")
    tell(f"by {dataset.source} (docs/references.md)")
    tell(f"licence: {dataset.licence}")
    for file in dataset.files:
        if file.licence:
            tell(f"licence of {file.name}: {file.licence}")


def _pooch() -> Any:
    """Return pooch, which downloads."""
    try:
        import pooch
    except ImportError as error:
        raise MissingPackageError("pooch", "datasets", "datasets fetch") from error
    pooch.get_logger().setLevel("ERROR")  # what it does is told here
    return pooch


def _download(pooch: Any, file: DatasetFile, folder: Path) -> None:
    """Put a file into a folder; it appears there if it is the published one."""
    from requests.exceptions import HTTPError, RequestException

    def limited(address: str, target: str, _: Any) -> None:
        with Path(target).open("wb") as output, ExitStack() as connections:

            def close_at_the_end(answer: Any, *_: Any, **__: Any) -> None:
                connections.callback(answer.close)

            # pooch leaves the connection of a download that breaks off to the garbage collector
            hooks = {"response": close_at_the_end}
            download = pooch.HTTPDownloader(timeout=_TIMEOUT, chunk_size=_CHUNK, hooks=hooks)
            counted = _Counted(output, file)
            download(address, counted, None)
        counted.check()

    target = folder / file.name
    by_hand = f"or get it on another machine, put it at {target}, and call this again"
    try:
        pooch.retrieve(file.address, f"sha256:{file.sha256}", file.name, folder, downloader=limited)
    except HTTPError as error:
        said = f"the server answers {error.response.status_code} {error.response.reason}"
        raise DownloadError(file.address, f"{said}; try again later, {by_hand}") from error
    except RequestException as error:
        raise DownloadError(
            file.address,
            f"no connection, or it broke off ({type(error).__name__}); try again, {by_hand}",
        ) from error
    except ValueError as error:  # its digest is another
        raise DownloadError(
            file.address, f"what came is not what was published (its SHA-256 is another); {_AGAIN}"
        ) from error
    except OSError as error:
        raise OutputError(target, f"cannot be written: {error.strerror or error}") from error


_AGAIN = "nothing of it was kept; try again, or look for a proxy that answers in the server's place"


class _Counted:
    """A file that takes as many bytes as are published, and no more."""

    def __init__(self, output: Any, file: DatasetFile) -> None:
        self._output = output
        self._file = file
        self._written = 0

    def write(self, data: bytes) -> None:
        """Write bytes.

        Raises:
            DownloadError: they are too many.
        """
        self._written += len(data)
        if self._written > self._file.size:
            self._refuse("more than that")
        self._output.write(data)

    def flush(self) -> None:
        """Flush the file."""
        self._output.flush()

    def check(self) -> None:
        """Test whether all bytes came.

        Raises:
            DownloadError: some are missing.
        """
        if self._written < self._file.size:
            self._refuse(f"{self._written}")

    def _refuse(self, came: str) -> None:
        raise DownloadError(
            self._file.address, f"{self._file.size} bytes were published, {came} came; {_AGAIN}"
        )


def _convert(dataset: Dataset, folder: Path, tell: Callable[[str], None]) -> None:
    """Make the bag, unless it is there as it was made, and the record of all files."""
    record = folder / RECORD
    expected = _record(dataset, folder)
    if dataset.convert is not None and not _is_recorded(record, expected):
        tell(f"converting to a bag: {folder / dataset.recording}")
        write_joint_states(
            folder / dataset.recording,
            dataset.joint_names,
            dataset.convert(folder),
            overwrite=True,
        )
        expected = _record(dataset, folder)
    if not _is_recorded(record, expected):
        write_text_atomically(record, expected)


def _record(dataset: Dataset, folder: Path) -> str:
    """Return, as YAML, what the record of a data set says of the files that are there now."""
    recording = folder / dataset.recording
    made = sorted(recording.iterdir()) if recording.is_dir() else []
    document = {
        "name": dataset.name,
        "title": dataset.title,
        "source": dataset.source,
        "licence": dataset.licence,
        "files": {
            file.name: {
                "address": file.address,
                "sha256": file.sha256,
                **({"licence": file.licence} if file.licence else {}),
            }
            for file in dataset.files
        },
        "converted": {str(path.relative_to(folder)): _sha256(path) for path in made},
    }
    return yaml.safe_dump(document, sort_keys=False, width=100)


def _is_recorded(record: Path, expected: str) -> bool:
    """Tell whether a record says what it should."""
    try:
        return record.read_text(encoding="utf-8") == expected
    except (OSError, ValueError):
        return False


def _is_published(path: Path, file: DatasetFile) -> bool:
    """Tell whether a file is there and is the published one."""
    try:
        return path.stat().st_size == file.size and _sha256(path) == file.sha256
    except OSError:
        return False


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()  # a few megabytes
