"""Copying weights: the claims."""

from tf_opdiff.harness.spec.spec import Raises, Spec
from tf_opdiff.suites.claims.c24_copying import graph_program, program, reference
from tf_opdiff.suites.claims.c24_copying.topic import TOPIC

IN_ORDER = ("eager", "function", "xla")


def _quarters(draw, dtype):
    """Values and changes whose sums are all exact."""
    x, change = draw.integers(2, 9, low=-16, high=16) / 4 + 0.125
    return x.astype(dtype), (change + 1.125).astype(dtype)


def _claim(letter, says, **more):
    return TOPIC.claim(letter, says, "output", **more)


def _in_session(name, program, reference, ops, *claims, **more):
    return Spec(
        name=name,
        program=program,
        reference=reference,
        recipes={"quarters": _quarters},
        ops=ops,
        modes=("graph",),
        sessions=True,
        claims=claims,
        **more,
    )


def _in_order(name, program, reference, state, *claims, evidence=""):
    return Spec(
        name=name,
        program=program,
        reference=reference,
        recipes={"quarters": _quarters},
        ops="AssignAddVariableOp;AssignSubVariableOp",
        evidence=evidence,
        modes=IN_ORDER,
        state=state,
        claims=claims,
    )


RESOURCE = "AssignAddVariableOp;AssignSubVariableOp"
REFERENCE = "AssignAdd;AssignSub"
BY_ASSIGN = "assign makes a reference: what becomes of the one variable afterwards shows in the other."
BY_NEW = "A new variable made of the old one is a reference to it: what becomes of the one shows in the other."
BY_GRAPH = (
    "Copying the graph makes a reference: what becomes of the variable shows in its copy, and the other way round."
)
BY_LOAD = "load makes a deep copy: what becomes of the one variable afterwards does not touch the other."
BEFORE = "A new variable can be made of one that is not initialised yet, and is given what that one would start from."
ASSIGN = _claim(
    "a",
    BY_ASSIGN,
    reference=reference.one,
    refuted={"*/*": "assign stores the value that the other variable has then; each keeps a value of its own"},
    instead="claim-c24-reuse",
)
NEW = _claim(
    "b",
    BY_NEW,
    reference=reference.one,
    refuted={"*/*": "the old variable is read once, when the new one is initialised: that value is where it starts"},
    instead="claim-c24-reuse",
)
GRAPH = _claim(
    "c",
    BY_GRAPH,
    reference=reference.one,
    refuted={"*/*": "a graph holds no values: a session of its own has a variable of its own, initialised anew"},
    instead="claim-c24-load-into-copied-graph",
)
LOAD = _claim("d", BY_LOAD)

SCOPE = "get_collection(GLOBAL_VARIABLES, scope) gives the variables of that scope alone."

SPECS = (
    _in_order(
        "claim-c24-assign",
        program.assign,
        reference.apart_in_the_end,
        program.assigned_state,
        ASSIGN,
        evidence="called:Variable.assign",
    ),
    _in_session(
        "claim-c24-assign-resources",
        program.assign_resource_variables,
        reference.apart,
        RESOURCE,
        ASSIGN,
        evidence="called:Variable.assign",
    ),
    _in_session(
        "claim-c24-assign-references",
        program.assign_reference_variables,
        reference.apart,
        REFERENCE,
        ASSIGN,
        evidence="called:Variable.assign",
    ),
    _in_order("claim-c24-new-variable", program.change_new, reference.apart_in_the_end, program.new_state, NEW),
    _in_session("claim-c24-new-resource", program.new_resource_variable, reference.apart, RESOURCE, NEW),
    _in_session("claim-c24-new-reference", program.new_reference_variable, reference.apart, REFERENCE, NEW),
    _in_session(
        "claim-c24-new-before-the-resource",
        program.new_before_the_resource,
        lambda x, change: Raises("FAILED_PRECONDITION", "variable is uninitialized"),
        "",
        _claim(
            "e",
            BEFORE,
            reference=lambda x, change: -x,
            refuted={
                "*/*": "the guard around an initial value that is read of a variable knows reference variables only"
            },
            instead="claim-c24-new-by-initial-value",
        ),
    ),
    _in_session(
        "claim-c24-new-before-the-reference",
        program.new_before_the_reference,
        lambda x, change: Raises("FAILED_PRECONDITION", "Attempting to use uninitialized value"),
        "",
        _claim(
            "e",
            BEFORE,
            reference=lambda x, change: -x,
            refuted={
                "*/*": "the guard is a tf.cond, which since TensorFlow 2 is handed the value whichever branch it takes"
            },
            instead="claim-c24-new-by-initial-value",
        ),
    ),
    _in_session(
        "claim-c24-new-by-initial-value",
        program.new_by_initial_value,
        lambda x, change: -x,
        "Neg;AssignVariableOp",
    ),
    _in_session(
        "claim-c24-copy-graph-of-resource",
        program.copy_graph_of_resource,
        reference.apart,
        RESOURCE,
        GRAPH,
        evidence="called:compat.v1.train.import_meta_graph;graphs:2",
    ),
    _in_session(
        "claim-c24-copy-graph-of-reference",
        program.copy_graph_of_reference,
        reference.apart,
        REFERENCE,
        GRAPH,
        evidence="called:compat.v1.train.import_meta_graph;graphs:2",
    ),
    _in_session(
        "claim-c24-import-resource-beside",
        program.import_resource_beside,
        lambda x, change: (x + change, x + 2 * change, x),
        "AssignAddVariableOp;AssignVariableOp",
        _claim("c", BY_GRAPH),
        evidence="called:graph_util.import_graph_def;graphs:1",
    ),
    _in_session(
        "claim-c24-import-reference-beside",
        program.import_reference_beside,
        lambda x, change: (x, x + change, x + change),
        "AssignAdd;Assign",
        _claim(
            "c",
            BY_GRAPH,
            reference=lambda x, change: (x + change, x + 2 * change, x),
            refuted={"*/*": "a reference variable is known by its node's name, and the copied node has another one"},
            instead="claim-c24-reuse",
        ),
        evidence="called:graph_util.import_graph_def;graphs:1",
    ),
    _in_session(
        "claim-c24-two-sessions",
        program.two_sessions,
        reference.apart,
        "AssignAddVariableOp",
        _claim(
            "c",
            BY_GRAPH,
            reference=lambda x, change: (x + change, x + 2 * change),
            refuted={"*/*": "each session has variables of its own, also where two share a graph"},
            instead="claim-c24-load-into-copied-graph",
        ),
        evidence="graphs:1;sessions:2",
    ),
    _in_session(
        "claim-c24-load",
        program.load_resource_variable,
        reference.apart,
        RESOURCE,
        LOAD,
        tier="smoke",
        evidence="called:Variable.load",
    ),
    _in_session(
        "claim-c24-load-references",
        program.load_reference_variable,
        reference.apart,
        REFERENCE,
        LOAD,
        evidence="called:Variable.load",
    ),
    _in_session(
        "claim-c24-load-into-copied-graph",
        program.load_into_copied_graph,
        lambda x, change: (x, 2 * x),
        RESOURCE,
        LOAD,
        evidence="called:Variable.load;called:compat.v1.train.import_meta_graph;graphs:2",
    ),
    _in_session("claim-c24-reuse", program.reuse, reference.one, RESOURCE, evidence="graphs:1;sessions:1"),
    _in_order(
        "claim-c24-name-twice", program.name_twice, lambda x, c: (x + c, x, {"original": x}), program.one_variable
    ),
    _in_session(
        "claim-c24-copy-by-contrib",
        graph_program.copy_by_contrib,
        lambda x, change: (x, x - change, x + change),
        REFERENCE,
        _claim(
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
    _in_session(
        "claim-c24-copy-resource-by-contrib",
        graph_program.copy_resource_by_contrib,
        lambda x, change: Raises("NotImplementedError"),
        "",
        _claim(
            "i",
            "copy_variable_to_graph copies the variables of today as well.",
            reference=lambda x, change: (x, x - change, x + change),
            refuted={"*/*": "they are resource variables, which have no initialized_value(): a NotImplementedError"},
            instead="claim-c24-load-evaluated",
        ),
        evidence="called:Variable.initialized_value",
    ),
    _in_session(
        "claim-c24-filter-of-names",
        graph_program.change_by_filter,
        lambda x, change: (x + change, x + change),
        "AssignAddVariableOp",
        _claim(
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
        _in_session(
            name,
            program,
            promise,
            "AssignAddVariableOp",
            _claim("g", SCOPE, reference=lambda x, change: (x + change, x), **more),
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
    _in_session(
        "claim-c24-load-evaluated",
        graph_program.load_evaluated,
        reference.apart,
        RESOURCE,
        LOAD,
        evidence="called:Variable.load;called:Variable.eval;graphs:2;sessions:2",
    ),
)
