"""Copying weights: the claims."""

from tf_opdiff.harness.spec.spec import Raises
from tf_opdiff.suites.claims.c24_copying import graph_specs, program, reference
from tf_opdiff.suites.claims.c24_copying.forms import (
    BY_GRAPH,
    LOAD,
    REFERENCE,
    RESOURCE,
    claim,
    in_order,
    in_session,
)

BY_ASSIGN = "assign makes a reference: what becomes of the one variable afterwards shows in the other."
BY_NEW = "A new variable made of the old one is a reference to it: what becomes of the one shows in the other."
BEFORE = "A new variable can be made of one that is not initialised yet, and is given what that one would start from."
ASSIGN = claim(
    "a",
    BY_ASSIGN,
    reference=reference.one,
    refuted={"*/*": "assign stores the value that the other variable has then; each keeps a value of its own"},
    instead="claim-c24-reuse",
)
NEW = claim(
    "b",
    BY_NEW,
    reference=reference.one,
    refuted={"*/*": "the old variable is read once, when the new one is initialised: that value is where it starts"},
    instead="claim-c24-reuse",
)
GRAPH = claim(
    "c",
    BY_GRAPH,
    reference=reference.one,
    refuted={"*/*": "a graph holds no values: a session of its own has a variable of its own, initialised anew"},
    instead="claim-c24-load-into-copied-graph",
)


SPECS = (
    in_order(
        "claim-c24-assign",
        program.assign,
        reference.apart_in_the_end,
        program.assigned_state,
        ASSIGN,
        evidence="called:Variable.assign",
    ),
    in_session(
        "claim-c24-assign-resources",
        program.assign_resource_variables,
        reference.apart,
        RESOURCE,
        ASSIGN,
        evidence="called:Variable.assign",
    ),
    in_session(
        "claim-c24-assign-references",
        program.assign_reference_variables,
        reference.apart,
        REFERENCE,
        ASSIGN,
        evidence="called:Variable.assign",
    ),
    in_order("claim-c24-new-variable", program.change_new, reference.apart_in_the_end, program.new_state, NEW),
    in_session("claim-c24-new-resource", program.new_resource_variable, reference.apart, RESOURCE, NEW),
    in_session("claim-c24-new-reference", program.new_reference_variable, reference.apart, REFERENCE, NEW),
    in_session(
        "claim-c24-new-before-the-resource",
        program.new_before_the_resource,
        lambda x, change: Raises("FAILED_PRECONDITION", "variable is uninitialized"),
        "",
        claim(
            "e",
            BEFORE,
            reference=lambda x, change: -x,
            refuted={
                "*/*": "the guard around an initial value that is read of a variable knows reference variables only"
            },
            instead="claim-c24-new-by-initial-value",
        ),
    ),
    in_session(
        "claim-c24-new-before-the-reference",
        program.new_before_the_reference,
        lambda x, change: Raises("FAILED_PRECONDITION", "Attempting to use uninitialized value"),
        "",
        claim(
            "e",
            BEFORE,
            reference=lambda x, change: -x,
            refuted={
                "*/*": "the guard is a tf.cond, which since TensorFlow 2 is handed the value whichever branch it takes"
            },
            instead="claim-c24-new-by-initial-value",
        ),
    ),
    in_session(
        "claim-c24-new-by-initial-value",
        program.new_by_initial_value,
        lambda x, change: -x,
        "Neg;AssignVariableOp",
    ),
    in_session(
        "claim-c24-copy-graph-of-resource",
        program.copy_graph_of_resource,
        reference.apart,
        RESOURCE,
        GRAPH,
        evidence="called:compat.v1.train.import_meta_graph;graphs:2",
    ),
    in_session(
        "claim-c24-copy-graph-of-reference",
        program.copy_graph_of_reference,
        reference.apart,
        REFERENCE,
        GRAPH,
        evidence="called:compat.v1.train.import_meta_graph;graphs:2",
    ),
    in_session(
        "claim-c24-import-resource-beside",
        program.import_resource_beside,
        lambda x, change: (x + change, x + 2 * change, x),
        "AssignAddVariableOp;AssignVariableOp",
        claim("c", BY_GRAPH),
        evidence="called:graph_util.import_graph_def;graphs:1",
    ),
    in_session(
        "claim-c24-import-reference-beside",
        program.import_reference_beside,
        lambda x, change: (x, x + change, x + change),
        "AssignAdd;Assign",
        claim(
            "c",
            BY_GRAPH,
            reference=lambda x, change: (x + change, x + 2 * change, x),
            refuted={"*/*": "a reference variable is known by its node's name, and the copied node has another one"},
            instead="claim-c24-reuse",
        ),
        evidence="called:graph_util.import_graph_def;graphs:1",
    ),
    in_session(
        "claim-c24-two-sessions",
        program.two_sessions,
        reference.apart,
        "AssignAddVariableOp",
        claim(
            "c",
            BY_GRAPH,
            reference=lambda x, change: (x + change, x + 2 * change),
            refuted={"*/*": "each session has variables of its own, also where two share a graph"},
            instead="claim-c24-load-into-copied-graph",
        ),
        evidence="graphs:1;sessions:2",
    ),
    in_session(
        "claim-c24-load",
        program.load_resource_variable,
        reference.apart,
        RESOURCE,
        LOAD,
        tier="smoke",
        evidence="called:Variable.load",
    ),
    in_session(
        "claim-c24-load-references",
        program.load_reference_variable,
        reference.apart,
        REFERENCE,
        LOAD,
        evidence="called:Variable.load",
    ),
    in_session(
        "claim-c24-load-into-copied-graph",
        program.load_into_copied_graph,
        lambda x, change: (x, 2 * x),
        RESOURCE,
        LOAD,
        evidence="called:Variable.load;called:compat.v1.train.import_meta_graph;graphs:2",
    ),
    in_session("claim-c24-reuse", program.reuse, reference.one, RESOURCE, evidence="graphs:1;sessions:1"),
    in_order(
        "claim-c24-name-twice", program.name_twice, lambda x, c: (x + c, x, {"original": x}), program.one_variable
    ),
    *graph_specs.GRAPHS,
)
