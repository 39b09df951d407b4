"""A training that is written twice, as two specs: in a session of a v1 graph, and with a tape."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tf_opdiff.harness.spec.plan import without_modes
from tf_opdiff.harness.spec.spec import Claim, Recipe, Spec
from tf_opdiff.suites.claims.c15_frozen_weights.reference import last, with_final
from tf_opdiff.suites.claims.evidence import MINIMIZE
from tf_opdiff.suites.reference.promises.running import bound

TF2 = without_modes("graph")
#: Evidence of how the slots of an optimizer are reached in a session.
LOAD_SLOTS = ";called:compat.v1.train.Optimizer.get_slot;called:Variable.load"
ASSIGN_SLOTS = ";called:compat.v1.train.Optimizer.get_slot;called:Variable.assign"
#: Where a claim names a training as the program to write instead, its spec in a session names that in a session.
INSTEAD_IN_SESSION = {
    name: f"{name}-in-session" for name in ("claim-c15-subset", "claim-c15-two-optimizers", "claim-c15-zeroed-m")
}


@dataclass(frozen=True, kw_only=True)
class Training:
    """A training that is written twice: in a session of a v1 graph, and with a tape.

    in_session: the program with a session.
    program, state: the program with a tape, and its variables.
    reference: of both; the first outputs are the trajectories of the variables.
    outputs: how many outputs it has.
    names: of the variables.
    optimizer: of v1, as in `ResourceApplyAdam`.
    slots, slots_in_session: evidence of how the slots of the optimizer are reached, with a tape and in a session.
    reference_in_session: of the program with a session, where that differs.
    keras: the optimizer of Keras, as in `tf.keras.optimizers.Adam`, if it is neither Adam nor SGD.
    update: the op by which the optimizer of Keras updates a variable, if it is another one.
    unsigned_zeros: the quantities in which a zero may have either sign.
    """

    in_session: Callable[..., Any]
    program: Callable[..., Any]
    state: Callable[..., Any]
    reference: Callable[..., Any]
    outputs: int = 2
    names: tuple[str, ...] = ("w",)
    optimizer: str = "Adam"
    slots: str = ""
    slots_in_session: str = ""
    reference_in_session: Callable[..., Any] | None = None
    keras: str = ""
    update: str = ""
    unsigned_zeros: tuple[str, ...] = ()

    def specs(self, name: str, recipes: Mapping[str, Recipe], *claims: Claim) -> tuple[Spec, Spec]:
        """A spec for v1 graphs and one for everything else: one reference, the same claims."""
        bounds = {f"output[{i}]": bound(self.reference, i) for i in range(len(self.names))}
        final = {f"output[{self.outputs + i}]": last(bounds[f"output[{i}]"]) for i in range(len(self.names))}
        common: dict[str, Any] = {
            "recipes": recipes,
            "dtypes": ("float32", "float64"),
            "unsigned_zeros": self.unsigned_zeros,
        }
        by_mask = ";built:StopGradient" if self.names == ("w",) else ""
        keras = self.keras or ("Adam" if self.optimizer == "Adam" else "SGD")
        usual = "AssignAddVariableOp" if self.optimizer == "Momentum" else "AssignSubVariableOp"
        alone = self.reference_in_session or self.reference
        in_session = Spec(
            name=f"{name}-in-session",
            program=self.in_session,
            reference=alone,
            bound={f"output[{i}]": bound(alone, i) for i in range(len(self.names))},
            ops=f"ResourceApply{self.optimizer}",
            evidence=f"{MINIMIZE}{by_mask}{self.slots_in_session}",
            modes=("graph",),
            sessions=True,
            claims=tuple(replace(c, instead=INSTEAD_IN_SESSION.get(c.instead, c.instead)) for c in claims),
            **common,
        )
        with_tape = Spec(
            name=name,
            program=self.program,
            state=self.state,
            reference=with_final(self.reference, *self.names),
            bound=bounds | final,
            ops=self.update or usual,
            evidence=f"called:keras.optimizers.{keras}{by_mask}{self.slots}",
            modes=TF2,
            claims=claims,
            **common,
        )
        return in_session, with_tape
