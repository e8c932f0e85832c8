"""What tests of identification share."""

import pytest

from robot_identification.identification.diagnosis.judgement import Judgement


@pytest.fixture(scope="module")
def undiagnosed():
    """Leave out the search for what a fit does not explain, which changes no number of it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Judgement, "judge_fit", lambda *_, **__: None)
        yield
