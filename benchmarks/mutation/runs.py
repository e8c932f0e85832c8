"""Runs of tests on a mutant, each in a process forked from one in which the tests have run once.

Forking saves what costs most: to import, to collect tests, and to load compiled functions.  No file
is changed.
"""

from __future__ import annotations

import gc
import os
import resource
import signal
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

import hypothesis
import pytest

hypothesis.settings.register_profile("mutants", derandomize=True, deadline=None, database=None)
hypothesis.settings.load_profile("mutants")

ROOT = Path(__file__).resolve().parents[2]
PASSED, FAILED, BROKEN = 0, 1, 9
_OPTIONS = (
    *("-s", "-p", "no:terminal", "-p", "no:cacheprovider"),
    *("-o", "addopts=--import-mode=importlib -p hypothesispytest -p timeout"),
)
_LEAST_SECONDS = 10  # of processor time, for what hangs
_TIMES_LONGER = 8
_LONGEST_WAIT = 600.0  # for what sleeps


@dataclass
class Coverage:
    """Which test runs which lines of a module; a plugin of pytest that finds it out.

    Attributes:
        path: the module.
        lines: test -> its lines.
        seconds: test -> its processor time.
        lines_known: whether all tests have run once.
    """

    path: str
    lines: dict[str, set[int]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    lines_known: bool = False

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Trace one test, fixtures included, the first time that it runs."""
        if self.lines_known:
            yield
            return
        seen = self.lines.setdefault(item.nodeid, set())

        def in_module(frame: FrameType, _event: str, _arg: Any) -> Any:
            seen.add(frame.f_lineno)
            return in_module

        def called(frame: FrameType, _event: str, _arg: Any) -> Any:
            if frame.f_code.co_filename != self.path:
                return None
            seen.add(frame.f_lineno)
            return in_module

        begin = time.process_time()
        threading.settrace(called)
        sys.settrace(called)
        yield
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type]
        self.seconds[item.nodeid] = time.process_time() - begin

    def tests(self, lines: tuple[int, int] | None) -> list[str]:
        """Return the tests that run some of the lines, the quickest first; None: any lines."""
        wanted = set() if lines is None else set(range(lines[0], lines[1] + 1))
        chosen = [name for name, seen in self.lines.items() if lines is None or seen & wanted]
        return sorted(chosen, key=lambda name: self.seconds[name])


class Nursery:
    """A process in which the tests of a module are collected and have run, and from which it forks.

    Functions are given the code of the mutant; where something changes that runs when the module is
    loaded, the module is loaded anew in place.

    Args:
        module: name of the module.
        tests: files of tests, below the root of the repository, and options of pytest.
        study: what to do once the tests have passed; it calls :meth:`outcome`.
    """

    def __init__(self, module: str, tests: Sequence[str], study: Callable[[Nursery], None]) -> None:
        self._module, self._study = module, study
        self.path = ROOT / (module.replace(".", "/") + ".py")
        self._coverage = Coverage(str(self.path))
        self._items: dict[str, pytest.Item] = {}
        self._loads = True  # whether the tests pass with the module loaded anew
        os.chdir(ROOT)
        os.environ.pop("PYTEST_ADDOPTS", None)  # of a run around this one, as that of `colcon test`
        pytest.main([*_OPTIONS, *tests], plugins=[self._coverage, self])
        if not self._items:
            raise SystemExit(f"tests of {module} cannot be collected")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the tests once, then the study, in place of the loop of pytest."""
        self._session = session
        self._items = {item.nodeid: item for item in session.items}
        if self._tested(list(self._items)) != PASSED:
            raise SystemExit(f"tests of {self._module} fail without a mutant")
        self._coverage.lines_known = True
        self._loads = self.outcome(self.path.read_text(encoding="utf-8"), None) == "survived"
        self._study(self)
        return True

    def outcome(self, source: str, lines: tuple[int, int] | None) -> str:
        """Return ``killed``, ``hangs``, ``survived``, ``not run`` or ``left out``.

        ``not run``: no test runs the lines.  ``left out``: it takes a module loaded anew, and tests
        keep objects of the old one, such as members of an enumeration.

        Args:
            source: the module with its change.
            lines: first and last line of the statement; None: it runs at import.
        """
        tests = self._coverage.tests(lines)
        if not tests:
            return "not run"
        if lines is None and not self._loads:
            return "left out"
        allowed = _LEAST_SECONDS + _TIMES_LONGER * sum(self._coverage.seconds[t] for t in tests)
        run = self._loaded_anew if lines is None else self._with_other_code
        status = _in_a_fork(lambda: run(source, tests), allowed)
        if status is None:
            return "hangs"
        if status == BROKEN:
            raise SystemExit(f"a mutant of {self._module} could not be run")
        return "survived" if status == PASSED else "killed"

    def _tested(self, tests: list[str]) -> int:
        """Run tests until one fails."""
        for name in tests:
            item = self._items[name]
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
            if self._session.testsfailed:
                return FAILED
        return PASSED

    def _compiled(self, source: str) -> CodeType:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # such as of "is" with a number, an error in tests
            return compile(source, str(self.path), "exec")

    def _with_other_code(self, source: str, tests: list[str]) -> int:
        codes = dict(_codes(self._compiled(source)))
        gc.unfreeze()  # conftest.py freezes what is loaded, and frozen objects are not listed
        given = [one for one in gc.get_objects() if self._has(one)]
        if not given:
            raise LookupError(f"no function of {self._module} found")
        for one in given:
            one.__code__ = codes[one.__code__.co_name, one.__code__.co_firstlineno]
        return self._tested(tests)

    def _has(self, one: object) -> bool:
        """Tell whether a function is one of the module as its file has it."""
        return (
            isinstance(one, FunctionType)
            and one.__module__ == self._module
            and one.__code__.co_filename == str(self.path)
        )

    def _loaded_anew(self, source: str, tests: list[str]) -> int:
        """Run tests after the module was loaded in place; whoever imported from it gets the new."""
        content = vars(sys.modules[self._module])
        before = dict(content)
        try:
            exec(self._compiled(source), content)  # noqa: S102
        except Exception:  # noqa: BLE001  a module that cannot be loaded fails every test
            return FAILED
        for module in list(sys.modules.values()):
            for name, old in before.items():
                if not name.startswith("__") and vars(module).get(name) is old:
                    setattr(module, name, content[name])
        return self._tested(tests)


def _codes(code: CodeType) -> Iterator[tuple[tuple[str, int], CodeType]]:
    """Yield the code of all functions of a module by name and first line."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield (constant.co_name, constant.co_firstlineno), constant
            yield from _codes(constant)


def _in_a_fork(work: Callable[[], int], seconds: float) -> int | None:
    """Return the exit code of work in a forked process; None where that takes too long."""
    sys.stdout.flush()
    child = os.fork()
    if not child:
        status = BROKEN
        try:
            os.setpgid(0, 0)
            limit = int(time.process_time() + seconds) + 1
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
            os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = tempfile.mkdtemp()
            status = work()
        except Exception:  # noqa: BLE001  what is told, and no fault that tests have found
            traceback.print_exc()
        finally:
            os._exit(status)
    end = time.monotonic() + _LONGEST_WAIT
    while time.monotonic() < end:
        done, code = os.waitpid(child, os.WNOHANG)
        if done:
            return None if os.WIFSIGNALED(code) else os.WEXITSTATUS(code)
        time.sleep(0.01)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def in_their_lines(source: str, mutated: str) -> str:
    """Return a mutant in which what comes after the change stands in the lines where it stood.

    A number that is the first in its line is changed with the break of the line before it.
    """
    before, after = source.splitlines(), mutated.splitlines()
    pairs = enumerate(zip(before, after, strict=False))
    changed = next((i for i, (old, new) in pairs if old != new), len(after))
    after[changed + 1 : changed + 1] = [""] * (len(before) - len(after))
    return "\n".join([*after, ""])
