"""Run a parser on damaged inputs, each within two seconds of work, and count what comes out."""

import random
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType

from robot_identification.errors import RobotIdentificationError

SECONDS = 2.0
TRACED = 20  # one input in so many is traced for the coverage


class HangError(BaseException):
    """An input took too long; no ``except Exception`` may swallow this."""


@dataclass
class Outcome:
    """What came out of the executions.

    Attributes:
        counts: number of inputs that were refused and read, of both kinds.
        findings: inputs that brought anything else, with what they brought.
        slowest: longest time for an input, in s.
        covered: lines that ran, as (file, line).
    """

    counts: Counter = field(default_factory=Counter)
    findings: list = field(default_factory=list)
    slowest: float = 0.0
    covered: set = field(default_factory=set)


@contextmanager
def two_seconds():
    """Break off what takes more processor time; how busy the machine is does not count."""

    def hang(*_):
        raise HangError

    before = signal.signal(signal.SIGVTALRM, hang)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, before)


def lines_of(modules):
    """Return the lines of functions that can run, as (file, line)."""
    found = set()
    for module in modules:
        waiting = [compile(Path(module.__file__).read_text(), module.__file__, "exec")]
        while waiting:
            code = waiting.pop()
            waiting += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
            if code.co_flags & 2:  # a function: neither a module nor a class
                found |= {(code.co_filename, line) for _, _, line in code.co_lines() if line}
    return found


@contextmanager
def traced(files, covered):
    """Collect the lines of some files that run."""

    def local(frame, event, _):
        if event == "line":
            covered.add((frame.f_code.co_filename, frame.f_lineno))
        return local

    def call(frame, *_):
        if frame.f_code.co_filename not in files:
            return None
        covered.add((frame.f_code.co_filename, frame.f_lineno))
        return local

    before = sys.gettrace()
    sys.settrace(call)
    try:
        yield
    finally:
        sys.settrace(before)


def execute(parser, path, data):
    """Read one input; return ``refused`` or ``read``, or raise what it brings."""
    path.write_bytes(data)
    with two_seconds():
        try:
            found = parser.read(path)
        except RobotIdentificationError as error:
            if not str(error).strip():
                raise AssertionError("an error that says nothing") from error
            return "refused"
        parser.check(found, data)
        return "read"


def fuzz(parser, executions, folder, *, seed=0, seconds=None, coverage=True, most=20):
    """Run a parser on damaged inputs, a third of them behind their outer syntax.

    Inputs that reach new lines join those that others are made from.

    Args:
        parser: what to run.
        executions: number of inputs.
        folder: where inputs are written.
        seed: of the generator.
        seconds: time after which no more inputs are made.
        coverage: whether one input in twenty is traced.
        most: number of findings after which to stop.
    """
    rng, outcome = random.Random(seed), Outcome()
    corpus, end = list(parser.seeds), None if seconds is None else time.monotonic() + seconds
    path, files = folder / f"damaged{parser.suffix}", {m.__file__ for m in parser.modules}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for number in range(-len(corpus), executions):
            structured = number >= 0 and number % 3 == 0
            data = (
                corpus[number] if number < 0 else parser.damaged(rng, corpus, structured=structured)
            )
            known, began = len(outcome.covered), time.perf_counter()
            try:
                if coverage and (number < 0 or number % TRACED <= 1):
                    with traced(files, outcome.covered):
                        what = execute(parser, path, data)
                else:
                    what = execute(parser, path, data)
                outcome.counts[what, "structured" if structured else "bytes"] += number >= 0
            except (Exception, HangError) as error:  # noqa: BLE001 (that is what is sought)
                outcome.findings.append((number, data, _told(error)))
            outcome.slowest = max(outcome.slowest, time.perf_counter() - began)
            if len(outcome.covered) > known and number >= 0 and len(corpus) < 2000:
                corpus.append(data)
            if len(outcome.findings) >= most or (end is not None and time.monotonic() > end):
                break
    return outcome


def _told(error):
    lines = traceback.format_exception(error)
    return "".join(lines[-4:]) if isinstance(error, AssertionError) else "".join(lines[-8:])
