"""Column: the meaning of each column of a record, and of each kind that a record can have."""

from __future__ import annotations

from collections.abc import Mapping

#: One sentence for each column of `harness.store.records.record.Record`, in the same order. The documentation has this
#: table.
COLUMNS: Mapping[str, str] = {
    "run": "The id of the run.",
    "started": "The start of the run, in UTC.",
    "tf": "The version of TensorFlow that produced the result.",
    "cuda": "The version of CUDA that TensorFlow uses on the machine. Empty where TensorFlow lists no GPU. "
    "Older records hold the version for which TensorFlow was built.",
    "host": "The name of the machine.",
    "suite": "The family of the spec: its file in `suites/`.",
    "spec": "The name of the spec.",
    "raw_op": "The covered OpDefs that the executed graph contains, joined by `;`.",
    "case": "The id of the case. It names the same inputs on every machine.",
    "dtype": "The dtype of the case.",
    "recipe": "The recipe that made the inputs.",
    "seed": "The seed of the inputs: a hash of the case id.",
    "device": "The device of the plan: `cpu`, `gpu:0`, `cpu+noonednn`, `h100@2.21.0`.",
    "mode": "The mode of the plan: `eager`, `function`, `xla`, `graph`.",
    "ran_on": "The devices on which the op really ran, joined by `;`, read from the executed graph.",
    "against": "The oracle: `numpy`, another plan, the plan itself, or `claim:` and the id of a claim.",
    "quantity": "The compared result: `output[i]`, `grad[i]`, `jvp[i]` or `hvp[i]`.",
    "verdict": "The verdict; see the table of verdicts.",
    "kind": "The kind of difference that the record shows; empty for a match. See the table of kinds. If the result "
    "differs by several kinds, the first that nobody has explained; if all are known, that of the first cause.",
    "size": "The number of compared elements.",
    "mismatched": "The number of elements that differ by more than allowed.",
    "max_ulp": "The largest distance, in ULPs of the result's dtype. NaN where there is no distance.",
    "max_abs": "The largest absolute distance. NaN where there is no distance.",
    "budget": "The allowed distance in ULPs, at the element that came nearest to it. NaN where there is no distance.",
    "worst_index": "The index of the worst element. Elements next to the smallest normal number count only if all are.",
    "input": "The inputs at the worst index.",
    "got": "The result at the worst index.",
    "want": "The expected result at the worst index.",
    "detail": "The name of the output if it has one, and what happened, in words: the message of an error, the signal "
    "of a crash, the missing kernel, the kinds that the record does not show, the settings that the op left changed in "
    "its process.",
    "owner": "Who has to act on a known failure: `tensorflow`, `driver`, `us` or `nobody`. With several causes, this "
    "column, `reason`, `link` and `severity` are those of the first.",
    "reason": "Why a known failure fails, or where a contract is documented.",
    "link": "The source of the reason.",
    "seconds": "The time of the run in the device server, in seconds.",
    "rerun": "The command that reruns the case under this plan.",
    "example_index": "The index of the element with the simplest input among those with the same kind and severity.",
    "example": "The input, result and expected result at that index.",
    "distance": "How far off the worst element is, in words, where a distance makes sense.",
    "attrs": "The label of the case's keyword arguments. Empty where the spec has no such labels.",
    "cause": "The ids of the causes of a known failure, joined by `;`, the most severe first: see `suites/known`.",
    "severity": "The severity of a difference: that of its cause or, if nobody has explained it, by the rule. "
    "Empty where nothing differs.",
    "kinds": "All kinds by which the result differs, joined by `;`, in the order of the table of kinds. Each must be "
    "known by itself. Empty for a match, and in older records.",
    "planted": "The number of faults that the run planted in this result besides its known failures: a self-test. Only "
    "the first record of each known failure under a plan has them.",
    "unseen": "The names of the planted faults that the known failures would hide, joined by `;`.",
}
