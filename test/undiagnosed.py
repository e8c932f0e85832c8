"""Identification without the search for mistakes, which takes most of its time."""

from contextlib import contextmanager

import pytest

from robot_identification.identification.diagnosis.judgement import Judgement


@contextmanager
def _without_diagnosis():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Judgement, "judge_fit", lambda *_, **__: None)
        yield


@pytest.fixture
def undiagnosed():
    """Leave out the search for what a fit does not explain, which changes no number of it."""
    with _without_diagnosis():
        yield


@pytest.fixture(scope="module")
def module_undiagnosed():
    """Leave it out in a whole module, the fixtures of the module included."""
    with _without_diagnosis():
        yield
