"""A progress bar on standard error, so that standard output stays clean."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import Progress

Report = Callable[[str, float], None]


@contextmanager
def bar(title: str, *, quiet: bool) -> Iterator[Report]:
    """Show a bar while the block runs; what it yields takes a stage and a fraction.

    Args:
        title: name of the work, shown until the first stage is reported.
        quiet: show nothing.
    """
    console = Console(stderr=True)
    with Progress(
        console=console, transient=True, disable=quiet or not console.is_terminal
    ) as bars:
        task = bars.add_task(title, total=1.0)

        def report(stage: str, fraction: float) -> None:
            bars.update(task, description=stage, completed=fraction)

        yield report
