"""A remote server that does not answer, or not to the end, is a hang or a crash."""

from tf_opdiff.harness.tests.patience import PATIENCE


def test_half_a_message_and_silence_are_a_hang(observe):
    observations = observe("half a message", "a byte now and then", "hangs")
    assert [(o.quantities["output[0]"].status, o.fault) for o in observations] == [("hang", "")] * 3


def test_a_server_that_closes_its_pipes_and_lives_on_is_a_crash(observe):
    (observation,) = observe("closes its pipes", timeout=PATIENCE)
    assert observation.quantities["output[0]"].code == "CLOSED"
