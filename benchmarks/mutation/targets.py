"""Modules on which results and safety depend, and the tests that belong to each."""

from __future__ import annotations

_CERTIFICATION = "test/excitation/certification"
_BRAKING = "test/excitation/motions/test_braking.py"
_CONSISTENCY = "test/calibration/consistency/test_program.py"
_CHECKS = "test/calibration/consistency/test_checks.py"
_LINK_CHECKS = "test/calibration/consistency/test_link_checks.py"
_FRICTION = "test/calibration/test_friction_laws.py"
_TOLD_OF_CHECKS = f"{_CERTIFICATION}/test_told.py", f"{_CERTIFICATION}/test_checks.py"
_STATISTICS = "test/identification/statistics"
_SUPERVISION = "test/ros/supervision"
_POSITIONS = "test/signals/positions"
_TOLD = "test/test_told_values.py::test_what_was_told_cannot_be_set_and_arrays_in_it_are_compared"

# A whole folder costs minutes of processor time where its tests try hundreds of examples.
_OWN: dict[str, tuple[str, ...]] = {
    "excitation.certification.certificate": (
        *_TOLD_OF_CHECKS,
        f"{_CERTIFICATION}/test_certificate.py",
    ),
    "excitation.motions.braking": (_BRAKING,),
    "calibration.consistency.program": (_CONSISTENCY, _FRICTION),
    "identification.statistics.robust_std": (
        f"{_STATISTICS}/test_robust_std.py",
        f"{_STATISTICS}/test_band_densities.py",
    ),
    "identification.statistics.reliability": (f"{_STATISTICS}/test_reliability.py",),
    "excitation.certification.checks": (*_TOLD_OF_CHECKS, _BRAKING),
    "excitation.certification.effort_bounds": (
        *_TOLD_OF_CHECKS,
        f"{_CERTIFICATION}/test_effort_bounds_by_hand.py",
        f"{_CERTIFICATION}/test_effort_bounds_of_laws.py",
        f"{_CERTIFICATION}/test_surroundings.py",
    ),
    "excitation.certification.surroundings": (f"{_CERTIFICATION}/test_surroundings.py",),
    "excitation.plan": ("test/excitation/test_plan_by_hand.py",),
    "excitation.plan_settings": ("test/excitation/test_plan_by_hand.py",),
    "ros.supervision.braking": (
        f"{_SUPERVISION}/test_braking.py",
        f"--deselect={_SUPERVISION}/test_braking.py::test_whatever_the_last_states_say",
        f"--deselect={_SUPERVISION}/test_braking.py::test_braking_from_every_state_as_far_off",
    ),
    "ros.supervision.clock": (f"{_SUPERVISION}/test_clock.py",),
    "ros.supervision.confirmation": (f"{_SUPERVISION}/test_supervisor_by_hand.py",),
    "ros.supervision.phases": (f"{_SUPERVISION}/test_phases.py",),
    "ros.supervision.start_conditions": (f"{_SUPERVISION}/test_supervisor_by_hand.py",),
    "ros.supervision.states": (f"{_SUPERVISION}/test_states.py",),
    "ros.supervision.supervisor": (
        f"{_SUPERVISION}/test_supervisor_by_hand.py",
        f"{_SUPERVISION}/test_supervisor_at_the_end.py",
    ),
    "ros.supervision.watch": (f"{_SUPERVISION}/test_watch.py",),
    "calibration.consistency.checks": (_CHECKS, _FRICTION),
    "calibration.consistency.link_checks": (_LINK_CHECKS, _CHECKS),
    "calibration.consistency.conditions": (
        _CHECKS,
        "test/calibration/consistency/test_conditions.py",
        _FRICTION,
    ),
    "calibration.consistency.scales": ("test/calibration/consistency/test_scales.py", _FRICTION),
    "identification.statistics.cross_validation": (f"{_STATISTICS}/test_cross_validation.py",),
    "identification.statistics.joint_noise": (f"{_STATISTICS}/test_joint_noise.py",),
    "identification.statistics.prediction": (f"{_STATISTICS}/test_prediction.py",),
    "identification.statistics.residuals": (f"{_STATISTICS}/test_residuals.py",),
    "identification.statistics.sensitivity": (f"{_STATISTICS}/test_sensitivity.py",),
    "ros.excitation.checks.driver": ("test/ros/excitation/test_preflight.py",),
    "signals.positions.held_joints": (f"{_POSITIONS}/test_held_joints.py",),
    "signals.positions.strays": (f"{_POSITIONS}/test_strays.py",),
    "signals.positions.turns": (f"{_POSITIONS}/test_turns.py",),
}

# All but these have dataclasses that hold nothing that changes.
_TELL = frozenset(_OWN) - {
    "excitation.motions.braking",
    "identification.statistics.robust_std",
    "ros.excitation.checks.driver",
    "ros.supervision.start_conditions",
    "ros.supervision.supervisor",
    "ros.supervision.watch",
    "signals.positions.held_joints",
    "signals.positions.strays",
    "signals.positions.turns",
}
TARGETS = {
    module: (*tests, *((f"{_TOLD}[{module}]",) if module in _TELL else ()))
    for module, tests in _OWN.items()
}
"""Name of a module below the package -> tests that belong to it, and options of pytest."""
