"""The steps of a live run: each asks the nodes, keeps what they answer, and shows it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from robot_identification.cli.tables import progress
from robot_identification.cli.tables import results as tables
from robot_identification.cli.walk.record import (
    PARAMETERS,
    PLAN,
    RESULT,
    URDF,
    VALIDATION_PLAN,
    RunRecord,
)
from robot_identification.errors import InputError, OutputError, ResultRefusedError
from robot_identification.identification.estimators.choice import DEFAULT
from robot_identification.ros.clients.live_run import LiveRun
from robot_identification.ros.clients.work_requests import data_of
from robot_identification.ros.messages.received_results import result_of

_ONE_JOINT = "one-joint"
_ASKED = {"method": "", "rows": 0, "duration": 0.0, "seed": 0}
"""Fields of requests for a plan, with what leaves each to the node."""
_WARNING = "Nobody within reach, a hand on the emergency stop.  Ctrl-C brakes."


class NotConfirmedError(InputError):
    """Nobody has said yes, so nothing has moved."""


class NothingToIdentifyError(InputError):
    """Nothing says which data to work with."""


class NotAcceptedError(ResultRefusedError):
    """The error on data that were not fitted is larger than what was called acceptable.

    Attributes:
        error: the error, as a fraction.
        accepted: the largest one acceptable.
    """

    def __init__(self, error: float, accepted: float) -> None:
        self.error, self.accepted = error, accepted
        super().__init__(
            f"the error on data not fitted is {error:.4f}, and {accepted:g} was to be accepted at "
            "most: look at the error of each joint, and at the warnings of the result"
        )


@contextmanager
def _naming(recording: str) -> Iterator[None]:
    """Have an error of writing name the recording that there is all the same.

    Raises:
        OutputError: of the block.
    """
    try:
        yield
    except OutputError as error:
        if not recording:
            raise
        raise OutputError(
            error.path,
            f"{error.problem}; acquisition and identification have the motion as {recording}: give "
            "--recording",
        ) from error


class Walk:
    """One run.

    Args:
        live: the nodes.
        options: of the command.
        record: where what is done is kept.
    """

    def __init__(self, live: LiveRun, options: argparse.Namespace, record: RunRecord) -> None:
        self._live, self._options, self._record = live, options, record
        self._steps: dict[str, Callable[[], None]] = {
            "plan": self._plan,
            "rehearse": self._rehearse,
            "run": self._run,
            "identify": self._identify,
            "validate": self._validate,
            "calibrate": self._calibrate,
        }

    def take(self, step: str) -> None:
        """Take a step.

        Raises:
            RobotIdentificationError: it failed; what is said of it tells why.
        """
        self._steps[step]()

    def _plan(self) -> None:
        entries = self._planned(self._asked(), PLAN)
        self._record.keep("plan", entries)
        if self._record.aside is not None:
            self._say(f"what another run had left in the folder is in {self._record.aside}")

    def _asked(self) -> dict[str, Any]:
        """Return what plans of this run are asked for: by options, else as its own plan was."""
        options, own = self._options, self._record.plan_asked
        method = options.method and (_ONE_JOINT if options.method == _ONE_JOINT else "")
        given = {"rows": options.rows, "duration": options.duration, "seed": options.seed}
        if method is not None and method != own.get("method"):
            own = {"method": method, "seed": own.get("seed")}  # the others are of the other method
        said = {name: value for name, value in given.items() if value is not None}
        known = {
            name: own[name] for name in _ASKED if isinstance(own.get(name), type(_ASKED[name]))
        }
        return {**_ASKED, **known, **said}

    def _planned(self, asked: dict[str, Any], name: str) -> dict[str, Any]:
        """Plan a motion; return what is to be kept of the plan."""
        with self._bar("planning") as report:
            response = self._live.verbs.telling(report).plan(
                **asked, output=self._record.asked(name)
            )
        file = self._record.take(name, response.written)
        self._say(f"plan: {response.message}")
        unknown = [*response.unknown_base_parameters]
        if unknown:
            self._say(f"it leaves unknown: {', '.join(unknown)}")
        return {
            "trajectory": response.trajectory_id,
            "hash": response.trajectory_hash,
            "rows": response.rows,
            "points": response.points,
            "duration": response.duration,
            "condition_number": response.condition_number,
            "braking_time": response.braking_time,
            "missing_parameters": dict(
                zip(response.missing_parameters, response.missing_reasons, strict=True)
            ),
            "file": file,
            "asked": asked,
        }

    def _rehearse(self) -> None:
        self._require_own_plan()
        moved = self._moved("rehearsal", self._options.rehearsal_speed, self._own_plan())
        self._record.keep("rehearse", moved)

    def _run(self) -> None:
        self._require_own_plan()
        moved = self._moved("run", self._options.speed, self._own_plan(), record=True)
        with _naming(moved["recording"]):
            self._record.keep("run", moved)

    def _own_plan(self) -> str:
        """Return the hash of the plan that this run made; empty where it made none."""
        return self._record.text("plan", "hash")

    def _require_own_plan(self) -> None:
        """Refuse to move by another plan than that of this run."""
        if not self._is_planned(self._own_plan()):
            raise NotConfirmedError(
                "the plan of the node excitation is not that of this run: begin with the step plan"
            )

    def _moved(
        self, title: str, speed: float, plan: str, *, record: bool = False, refresh: bool = True
    ) -> dict[str, Any]:
        """Have the robot follow the plan, once it was agreed to; a new one is rehearsed before.

        Raises:
            NotConfirmedError: nobody says yes, or the node has another plan by then.
        """
        plan = plan or self._live.planned()
        if speed > self._options.rehearsal_speed:
            self._rehearse_new(title, plan)
        outline, *checks = self._live.preview(speed).splitlines()
        told = "".join(f"\n  {check}" for check in checks)
        self._confirm(f"{title}: the robot will move: {outline}{told}")
        if not self._is_planned(plan):
            raise NotConfirmedError(
                "nothing has moved: the node excitation has another plan by now, for which nobody "
                "has said yes; see who plans, and take this step again"
            )
        with self._bar(title) as report:
            move = self._live.move(report, speed, record=record, refresh=refresh)
        self._say(f"{title}: the robot is at rest at the end of the trajectory")
        with _naming(move.recording):
            self._record.note_rehearsed(move.trajectory_hash, move.speed)
        return {
            "hash": move.trajectory_hash,
            "speed": move.speed,
            "duration": move.seconds,
            "recording": move.recording,
            "checks": checks,
        }

    def _is_planned(self, plan: str) -> bool:
        """Tell whether the next start executes the plan with a hash; true where none is known."""
        return not plan or self._live.planned(plan) == plan

    def _rehearse_new(self, title: str, plan: str) -> None:
        """Rehearse the plan of the node, unless this run has followed it to its end already."""
        if not self._record.rehearsed(self._live.planned(plan)):
            self._moved(f"rehearsal of the {title}", self._options.rehearsal_speed, plan)

    def _confirm(self, question: str) -> None:
        """Go on where the operator says yes.

        Raises:
            NotConfirmedError: otherwise.
        """
        print(f"{question}\n{_WARNING}", file=sys.stderr)
        if self._options.yes:
            return
        print("Type yes to go on: ", end="", file=sys.stderr, flush=True)
        answer = sys.stdin.readline()
        if answer.strip().lower() != "yes":
            said = f"the answer was {answer.strip()!r}" if answer else "there was no answer"
            raise NotConfirmedError(f"nothing has moved: {said}; say yes, or give --yes")

    def _identify(self) -> None:
        options = self._options
        recording = options.recording or self._record.text("run", "recording")
        if not options.bag and not recording:
            raise NothingToIdentifyError(
                "nothing says which recording: take the step run, give the --output of the run "
                "before, or --recording or --bag"
            )
        data = data_of([] if options.bag else [recording], [bag.resolve() for bag in options.bag])
        with self._bar("identifying") as report:
            response = self._live.verbs.telling(report).identify(
                options.method or DEFAULT,
                data,
                held_out_fraction=options.held_out,
                essential=options.essential,
                friction=options.friction,
                output=self._record.asked(RESULT),
            )
        file, result = self._record.take(RESULT, response.written), result_of(response.result)
        if not options.json:
            tables.print_result(result)
        entries = {**result.summary(), "file": file}
        self._record.keep("identify", entries)

    def _validate(self) -> None:
        options = self._options
        if options.held_out:
            self._validated_on_held_out()
            return
        result = self._record.result()
        if options.validation_bag:
            data = data_of([], [bag.resolve() for bag in options.validation_bag])
            motion: dict[str, Any] = {}
        else:
            motion = self._second_motion()
            data = data_of([motion["recording"]])
        with self._bar("validating") as report:
            response = self._live.verbs.telling(report).validate(data, result=result)
        errors = {
            "total": response.relative_error_total,
            **dict(zip(response.joint_names, response.relative_error, strict=True)),
        }
        self._judge(errors, motion)

    def _second_motion(self) -> dict[str, Any]:
        """Have the robot follow another plan; return what is to be kept of it."""
        asked = self._asked()
        planned = self._planned({**asked, "seed": asked["seed"] + 1}, VALIDATION_PLAN)
        moved = self._moved(
            "second motion", self._options.speed, planned["hash"], record=True, refresh=False
        )
        return {**planned, **moved}

    def _validated_on_held_out(self) -> None:
        errors = self._record.document.get("identify", {}).get("held_out_error")
        if not errors:
            raise NothingToIdentifyError(
                "the result has no held-out part: take the step identify with --held-out too"
            )
        self._judge(errors, {"held_out_fraction": self._options.held_out})

    def _judge(self, errors: dict[str, Any], motion: dict[str, Any]) -> None:
        """Keep and show errors on data not fitted.

        Raises:
            NotAcceptedError: they are too large.
        """
        self._record.keep("validate", {"relative_error": errors, **motion})
        if not self._options.json:
            rows = [(name, tables.fraction(error)) for name, error in errors.items()]
            title = "unexplained effort on data not fitted, as a fraction"
            tables.print_table(tables.console(), title, ("joint", "relative error"), rows)
        accepted = self._options.accept
        if accepted and not errors["total"] <= accepted:
            raise NotAcceptedError(errors["total"], accepted)

    def _calibrate(self) -> None:
        record, prior = self._record, self._options.prior
        with self._bar("calibrating") as report:
            response = self._live.verbs.telling(report).calibrate(
                result=record.result(),
                prior=str(Path(prior).resolve()) if prior and Path(prior).exists() else prior,
                space=self._options.space or "",
                output=record.asked(PARAMETERS),
                urdf=record.asked(URDF),
            )
        files = [record.take(name, response.written) for name in (PARAMETERS, URDF)]
        published = response.parameters
        self._say(f"calibration: {response.message}")
        for warning in response.warnings:
            self._say(f"warning: {warning}")
        record.keep(
            "calibrate",
            {
                "parameters": dict(zip(published.names, published.values, strict=True)),
                "consistent": published.consistent,
                "relative_error": published.relative_error_total,
                "error_increase": published.error_increase,
                "distance_to_prior": published.distance_to_prior,
                "warnings": list(response.warnings),
                "files": [path for path in files if path],
            },
        )

    def _bar(self, title: str) -> AbstractContextManager[progress.Report]:
        return progress.bar(title, quiet=self._options.json)

    def _say(self, line: str) -> None:
        if not self._options.json:
            tables.console().print(line, markup=False, soft_wrap=True)
