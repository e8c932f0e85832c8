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
OUTCOMES = SYNTAX, BEHIND, READ = "refused for their syntax", "refused behind it", "read"
TRACED = 20  # two inputs in so many are traced for the coverage


class HangError(BaseException):
    """An input took too long; no ``except Exception`` may swallow this."""


@dataclass
class Outcome:
    """What came out of the executions.

    Attributes:
        counts: number of inputs that were refused for their syntax, refused behind it, and read,
            of both kinds.
        findings: inputs that brought anything else, with what they brought.
        slowest: longest processor time for an input, in s.
        seconds: processor time of all of them, with making them, in s.
        covered: lines that ran, as (file, line).
    """

    counts: Counter = field(default_factory=Counter)
    findings: list = field(default_factory=list)
    slowest: float = 0.0
    seconds: float = 0.0
    covered: set = field(default_factory=set)

    def record(self):
        """Return what JSON can hold of it; the inputs of findings are left out."""
        return {
            "counts": [[what, kind, count] for (what, kind), count in self.counts.items()],
            "findings": [[number, None, told] for number, _, told in self.findings],
            "slowest": self.slowest,
            "seconds": self.seconds,
            "covered": sorted(self.covered),
        }

    @classmethod
    def of(cls, record):
        """Return the outcome that a record holds."""
        counts = Counter({(what, kind): count for what, kind, count in record["counts"]})
        covered = {(file, line) for file, line in record["covered"]}
        return cls(**{**record, "counts": counts, "covered": covered})


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


def functions_of(modules):
    """Return the lines of every function that can run, each a frozenset of (file, line)."""
    found = []
    for module in modules:
        waiting = [compile(Path(module.__file__).read_text(), module.__file__, "exec")]
        while waiting:
            code = waiting.pop()
            waiting += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
            if code.co_flags & 2:  # a function: neither a module nor a class
                lines = {(code.co_filename, line) for _, _, line in code.co_lines() if line}
                found.append(frozenset(lines - {(code.co_filename, code.co_firstlineno)}))
    return [lines for lines in found if lines]


def coverage(modules, covered):
    """Return how many lines ran, of the functions that were entered, and of all of them.

    Returns:
        Lines that ran, lines of the functions of which any ran, lines of all functions.
    """
    functions = functions_of(modules)
    entered = set().union(*(lines for lines in functions if lines & covered))
    return len(entered & covered), len(entered), len(set().union(*functions))


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
        return local

    before = sys.gettrace()
    sys.settrace(call)
    try:
        yield
    finally:
        sys.settrace(before)


def execute(parser, path, data):
    """Read one input; return what of ``OUTCOMES`` it came to, or raise what it brings."""
    path.write_bytes(data)
    with two_seconds():
        try:
            found = parser.read(path)
        except RobotIdentificationError as error:
            if not str(error).strip():
                raise AssertionError("an error that says nothing") from error
            return SYNTAX if parser.syntax.search(str(error)) else BEHIND
        parser.check(found, data)
        return READ


def fuzz(parser, executions, folder, *, seed=0, seconds=None, most=20):
    """Run a parser on damaged inputs, a third of them behind their outer syntax.

    Inputs that reach new lines, traced two in twenty, join those that others are made from.

    Args:
        parser: what to run.
        executions: number of inputs.
        folder: where inputs are written.
        seed: of the generator.
        seconds: time after which no more inputs are made.
        most: number of findings after which to stop.
    """
    rng, outcome, begin = random.Random(seed), Outcome(), time.process_time()
    corpus, end = list(parser.seeds), None if seconds is None else time.monotonic() + seconds
    path, files = folder / f"damaged{parser.suffix}", {m.__file__ for m in parser.modules}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ResourceWarning)  # rosbags leaves damaged files open
        for number in range(-len(corpus), executions):
            structured = number >= 0 and number % 3 == 0
            data = (
                corpus[number] if number < 0 else parser.damaged(rng, corpus, structured=structured)
            )
            known, began = len(outcome.covered), time.process_time()
            try:
                if number < 0 or number % TRACED <= 1:
                    with traced(files, outcome.covered):
                        what = execute(parser, path, data)
                else:
                    what = execute(parser, path, data)
                outcome.counts[what, "structured" if structured else "bytes"] += number >= 0
            except (Exception, HangError) as error:  # noqa: BLE001 (that is what is sought)
                outcome.findings.append((number, data, _told(error)))
            outcome.slowest = max(outcome.slowest, time.process_time() - began)
            if len(outcome.covered) > known and number >= 0 and len(corpus) < 2000:
                corpus.append(data)
            if len(outcome.findings) >= most or (end is not None and time.monotonic() > end):
                break
    outcome.seconds = time.process_time() - begin
    return outcome


def _told(error):
    lines = traceback.format_exception(error)
    return "".join(lines[-4:]) if isinstance(error, AssertionError) else "".join(lines[-8:])
