"""The clock that tests move by hand: it reminds those who have not answered."""

from types import SimpleNamespace

import lock_step
from lock_step import BEGIN, SteppedClock

PERIOD = 10_000_000  # ns, of the timer of a robot at 100 Hz


def test_whoever_missed_a_tick_is_woken_by_the_reminders_before_long(monkeypatch):
    elapsed, sent = [0.0], []
    monkeypatch.setattr(lock_step.time, "monotonic", lambda: elapsed[0])
    publisher = SimpleNamespace(publish=lambda message: sent.append(message.clock.nanosec))
    clock = SteppedClock(SimpleNamespace(create_publisher=lambda *_: publisher), 0.04)
    assert clock.step(True)
    told = []
    for _ in range(100):
        elapsed[0] += 0.21
        assert not clock.step(False)
        told.append(clock.now - BEGIN - 40_000_000)
    assert told[0] == 1, "who is late by a stall is told the same time"
    assert told[10] < 10_000
    assert told[30] > PERIOD
    assert sent[1:] == [40_000_000 + later for later in told]
    assert clock.step(True)
    elapsed[0] += 0.21
    before = clock.now
    clock.remind()
    assert clock.now == before + 1, "after an answer it begins anew"
