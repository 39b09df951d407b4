"""How a run's progress is told: estimates that follow what was measured, and few lines."""

import pytest

from tf_opdiff.harness.system.progress import Progress, Stage, duration, weights


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


def test_what_is_left_takes_as_long_as_what_is_done_took_by_weight():
    clock = Clock()
    stage = Stage("items", {"a": 10.0, "b": 30.0, "c": 80.0}, rate=0.5, clock=clock)
    assert (stage.left, stage.line()) == (60.0, "items: 0 of 3, about 1 min left")
    clock.now += 20
    stage.done("a")
    assert stage.left == 2 * 110.0
    stage.done("a", failed=True)
    stage.done("nothing known of it", failed=True)
    assert stage.failed == 0
    stage.done("b", failed=True)
    assert (stage.left, stage.line()) == (40.0, "items: 2 of 3, 1 failed, about 40 s left")
    stage.done("c")
    assert stage.line() == "items: 3 of 3, 1 failed"


def test_a_log_gets_a_line_at_the_begin_and_one_a_minute():
    clock, lines = Clock(), []
    progress = Progress(lines.append, 60.0, clock)
    progress.begin("items", {str(n): 1.0 for n in range(1000)})
    for n in range(1000):
        clock.now += 1.8
        progress.done(str(n))
    assert len(lines) == 1 + 1800 // 61
    assert lines[0] == "items: 0 of 1,000"
    assert lines[1].startswith("items: 34 of 1,000, about 29 min left")
    progress.begin("programs", {})
    assert len(lines) == 1 + 1800 // 61


def test_an_item_whose_duration_is_unknown_takes_as_long_as_others():
    assert weights(["a", "b", "new"], {"a": 1.0, "b": 3.0, "elsewhere": 99.0}) == {"a": 1.0, "b": 3.0, "new": 2.0}
    assert weights(["new"], {"elsewhere": 99.0}) == {"new": 99.0}
    assert weights(["new"], {}) == {"new": 1.0}


@pytest.mark.parametrize(("seconds", "says"), [(0.2, "1 s"), (59, "59 s"), (89, "1 min"), (4800, "1 h 20 min")])
def test_a_duration_is_as_exact_as_an_estimate_can_be(seconds, says):
    assert duration(seconds) == says
