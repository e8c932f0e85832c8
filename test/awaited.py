"""Coroutines of nodes, sent on by hand in place of an executor."""

import pytest


def answer_of(work):
    """Return what is answered by work that has nothing more to wait for."""
    with pytest.raises(StopIteration) as end:
        work.send(None)
    return end.value.value
