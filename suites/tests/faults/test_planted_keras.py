"""The forms of Keras see a planted fault in every mode, and nothing where there is none."""

from collections import Counter

from tf_opdiff.harness.spec.plan import MODES, without_modes


def test_a_value_that_is_off_is_seen_and_a_right_one_matches(run_module):
    records = run_module("tf_opdiff.suites.tests.planted.planted_keras", dtypes=["float32"])
    for name, modes in {"dense": MODES, "loss": MODES, "metric": MODES, "optimizer": without_modes("graph")}.items():
        for end, fault in (("", False), ("-off", True)):
            for mode in modes:
                own = [r for r in records if (r.spec, r.mode) == (f"planted-{name}{end}", mode)]
                counts = Counter(r.verdict for r in own if r.against == "numpy")
                assert bool(counts["mismatch"]) == fault, (name, end, mode, counts)
                assert fault or counts["match"], (name, mode, counts)
                assert counts.keys() <= {"match", "mismatch"}, (name, end, mode, counts)
