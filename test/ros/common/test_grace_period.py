from robot_identification.ros.common.stamps import GracePeriod


def asked(waiting, clock, seconds, step=0.1):
    """Ask again and again for some time; return the last answer."""
    for _ in range(round(seconds / step)):
        clock[0] += step
        answer = waiting.active()
    return answer


def test_nothing_is_waited_for_that_never_came(clock):
    assert not GracePeriod().active()


def test_two_heartbeats_of_fast_dds_are_waited_for_and_not_many(clock):
    waiting = GracePeriod()
    waiting.renew()
    assert asked(waiting, clock, 6.5)
    assert not asked(waiting, clock, 4.0)


def test_what_comes_begins_the_time_anew(clock):
    waiting = GracePeriod()
    waiting.renew()
    asked(waiting, clock, 9.0)
    waiting.renew()
    assert asked(waiting, clock, 9.0)


def test_a_stall_of_this_process_does_not_count(clock):
    waiting = GracePeriod()
    waiting.renew()
    assert asked(waiting, clock, 60.0, step=60.0)
    assert asked(waiting, clock, 6.5)
    assert not asked(waiting, clock, 4.0)
