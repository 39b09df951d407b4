"""Variables copied to another graph, chosen by their names, and loaded across sessions: their specs."""

from tf_opdiff.harness.spec.spec import Raises, Spec
from tf_opdiff.suites.claims.c24_copying import graph_program, reference
from tf_opdiff.suites.claims.c24_copying.forms import BY_GRAPH, LOAD, REFERENCE, RESOURCE, claim, in_session
from tf_opdiff.suites.claims.c24_copying.topic import TOPIC

SCOPE = "get_collection(GLOBAL_VARIABLES, scope) gives the variables of that scope alone."

GRAPHS: tuple[Spec, ...] = (
    in_session(
        "claim-c24-copy-by-contrib",
        graph_program.copy_by_contrib,
        lambda x, change: (x, x - change, x + change),
        REFERENCE,
        claim(
            "c",
            BY_GRAPH,
            reference=lambda x, change: (x + change, x, x),
            refuted={"*/*": "the other graph gets a variable of its own, which starts from an array"},
            instead="claim-c24-load-evaluated",
        ),
        TOPIC.claim(
            "f",
            "copy_variable_to_graph copies the value that the variable has.",
            "output[0]",
            reference=lambda x, change: (x + change, x, x + change),
            refuted={
                "*/*": "it runs initialized_value() in a new session, in which the variable is not initialized: that "
                "gives the initial value, and what training made of it is lost"
            },
            instead="claim-c24-load-evaluated",
        ),
        evidence="graphs:2;sessions:3;called:Variable.initialized_value",
    ),
    in_session(
        "claim-c24-copy-resource-by-contrib",
        graph_program.copy_resource_by_contrib,
        lambda x, change: Raises("NotImplementedError"),
        "",
        claim(
            "i",
            "copy_variable_to_graph copies the variables of today as well.",
            reference=lambda x, change: (x, x - change, x + change),
            refuted={"*/*": "they are resource variables, which have no initialized_value(): a NotImplementedError"},
            instead="claim-c24-load-evaluated",
        ),
        evidence="called:Variable.initialized_value",
    ),
    in_session(
        "claim-c24-filter-of-names",
        graph_program.change_by_filter,
        lambda x, change: (x + change, x + change),
        "AssignAddVariableOp",
        claim(
            "h",
            "A filter of names, such as [v for v in tf.global_variables() if scope in v.name], gives the variables of "
            "that scope alone.",
            reference=lambda x, change: (x + change, x),
            refuted={"*/*": "a name may have that text anywhere: subnet/weights has net/ in it, too"},
            instead="claim-c24-scope-by-name-and-slash",
        ),
        evidence="called:compat.v1.global_variables",
    ),
    *(
        in_session(
            name,
            program,
            promise,
            "AssignAddVariableOp",
            claim("g", SCOPE, reference=lambda x, change: (x + change, x), **more),
            evidence="called:compat.v1.get_collection",
        )
        for name, program, promise, more in (
            (
                "claim-c24-scope-by-name",
                graph_program.change_by_name,
                lambda x, change: (x + change, x + change),
                {
                    "refuted": {"*/*": "scope is the start of a name: net is the start of network/weights, too"},
                    "instead": "claim-c24-scope-by-name-and-slash",
                },
            ),
            (
                "claim-c24-scope-by-name-and-slash",
                graph_program.change_by_name_and_slash,
                lambda x, change: (x + change, x),
                {},
            ),
        )
    ),
    in_session(
        "claim-c24-load-evaluated",
        graph_program.load_evaluated,
        reference.apart,
        RESOURCE,
        LOAD,
        evidence="called:Variable.load;called:Variable.eval;graphs:2;sessions:2",
    ),
)
