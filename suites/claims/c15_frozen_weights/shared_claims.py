"""Claims that several programs with frozen weights share."""

from tf_opdiff.suites.claims.c15_frozen_weights.reference import SECOND_FROZEN, never_left_out, subset
from tf_opdiff.suites.claims.c15_frozen_weights.topic import TOPIC

MOVES = "Adam goes on moving masked weights that were updated earlier, and only those."
CORRECTED = (
    "√(1−β₂ᵗ)/(1−β₁ᵗ) with t = 5 in place of 3 after two frozen steps is 0.92 in place of 0.99, "
    "and with the usual 0.9 and 0.999 it is 0.17 in place of 0.20"
)
OTHERS_STAY = TOPIC.claim(
    "f",
    "Handing the optimizer only some of the variables is another way: the rest stay where they are.",
    "output[2]",
    reference=lambda *inputs: (*subset(*inputs)[:2], SECOND_FROZEN[1:, 4:] > 0),
)
AS_IF_NOT_LEFT_OUT = TOPIC.claim(
    "h",
    "A variable that was left out for some steps goes on afterwards as if they had not been.",
    "output[1]",
    reference=never_left_out,
    refuted={"*/*": "its m and v wait for it, but the bias correction is that of all steps: " + CORRECTED},
    instead="claim-c15-two-optimizers",
)
