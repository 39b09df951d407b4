"""The table: which entries of a spec's evidence, or which of its ops, are taken out of its program in which ways."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tf_opdiff.suites.tests.subjects import contexts, functions, gradients, queues, training, variables
from tf_opdiff.suites.tests.subjects.functions import same


@dataclass(frozen=True)
class Row:
    """A way to take a subject out of a program.

    entry: a regular expression for an entry `KIND:NAME` of the evidence; `op:NAME` for one of the spec's `ops`.
    way(tf): path of a function of TensorFlow → another one. A path that begins with `@` is no part of TensorFlow:
    `@state` changes the state, `@session` the sessions, `@thread` is the class of threads.
    name: in the names of planted specs.
    shows: a regular expression for what the program's text has, if the entry alone does not say it.
    """

    entry: str
    way: Callable[[Any], Mapping[str, Any]]
    name: str
    shows: str = ""


MAP = r"called:Graph\.gradient_override_map.*|replaced:.*"
V1_TRAINING = r"called:compat\.v1\.train\.Optimizer\."
KERAS = r"called:keras\.(ops|layers\.(Conv2D|Dense))\b.*"

#: No gradient first: what a program declares lasts as long as the process.
ROWS = (
    Row("called:no_gradient", gradients.no_gradient_declared, "no-gradient"),
    Row(r"called:compat\.v1\.py_func", gradients.by_custom_gradient, "py-func"),
    Row("called:py_function", gradients.without_py_function, "py-function"),
    Row(MAP, contexts.without_map, "map"),
    Row(MAP, contexts.empty_map, "map-empty"),
    Row(MAP, contexts.map_around_nothing, "map-around-nothing"),
    Row("called:RegisterGradient", gradients.no_registering, "registering"),
    Row("called:custom_gradient", gradients.result_of_custom_gradient, "custom-gradient"),
    Row("called:grad_pass_through", gradients.no_pass_through, "pass-through"),
    Row("(called:stop_gradient|built:StopGradient|op:StopGradient)", gradients.nothing_stopped, "stop-gradient"),
    Row("called:function", gradients.in_line, "function"),
    Row("called:GradientTape", gradients.blind_tape, "tape"),
    Row("called:gradients", gradients.no_gradients, "gradients"),
    Row(r"called:raw_ops\.SymbolicGradient", gradients.symbolic_by_hand, "symbolic-gradient"),
    Row("(called:load_op_library|op:SkipCube|op:CubeWithoutGradient)", gradients.library_in_python, "library"),
    Row(r"called:compat\.v1\.test\.compute_gradient_error", gradients.checked_by_hand, "check"),
    Row("called:control_dependencies", contexts.no_dependencies, "dependencies"),
    Row("called:control_dependencies", contexts.dependencies_on_nothing, "dependencies-empty"),
    Row("called:control_dependencies", contexts.dependencies_of_nothing, "dependencies-around-nothing"),
    Row(r"called:Graph(\.as_default)?", contexts.graph_not_entered, "graph"),
    Row("(graphs|sessions):[2-9]", contexts.one_session, "sessions"),
    Row(r"called:identity(\(name=.*)?", same(identity=functions.identity), "identity"),
    Row(r"called:identity\(name=.*", same(identity=functions.identity_without_name), "name"),
    Row(r"called:negative\(name=.*", same(negative=functions.negative_without_name), "name"),
    Row("called:square", same(square=functions.square), "square"),
    Row("op:Square", same(square=functions.square), "square", r"tf\.square\b"),
    Row("called:multiply", same(multiply=functions.multiply), "multiply"),
    Row(r"called:keras\.layers\.Lambda", functions.called_layer, "lambda"),
    Row(r"called:keras\.layers\.BatchNormalization", training.inference, "training"),
    Row(KERAS, functions.in_keras, "keras"),
    Row("(op:Select|called:compat.v1.where)", same(compat__v1__where=functions.select_v2), "select"),
    Row("(op:SelectV2|called:where)", same(where=functions.select), "where"),
    Row(
        r"called:(compat\.v1\.)?cond",
        same(cond=functions.both_branches, compat__v1__cond=functions.both_branches),
        "cond",
    ),
    Row("built:Merge", functions.control_flow_v2, "control-flow-v1"),
    Row("op:Switch", functions.switch_by_where, "switch", r"raw_ops\.Switch"),
    Row("op:Mul", same(multiply=functions.multiply_by_constant), "path", r"tf\.multiply\(d, e\)"),
    Row("op:AddV2", same(constant=functions.constant_drawn), "python-number", r'state\["_random"\]'),
    Row("op:Less", same(less=functions.less), "less"),
    Row("op:Floor", same(floor=functions.floor), "floor", r"tf\.floor\("),
    Row("built:Floor", same(floor=functions.floor), "floor"),
    Row("op:Ceil", same(math__ceil=functions.ceil), "ceil"),
    Row("op:Cast", same(cast=functions.cast), "cast", r"tf\.int32"),
    Row("(built|op):Sigmoid", same(sigmoid=functions.sigmoid), "sigmoid"),
    Row("built:Erf", same(math__erf=functions.erf), "erf"),
    Row("built:Minimum", same(clip_by_value=functions.clip), "clip"),
    Row("op:GatherV2", same(gather=functions.gather), "gather", r"tf\.gather\(params"),
    Row("op:GatherV2", same(gather=functions.gather_rows), "gather", r"tf\.gather\(centers"),
    Row("op:Pack", same(stack=functions.stack), "stack"),
    Row("op:Prod", same(reduce_prod=functions.reduce_prod), "prod"),
    Row("op:ResourceStridedSliceAssign", variables.grid_of_tensors, "assignments", r"result = tf\.Variable\("),
    Row("op:ResourceStridedSliceAssign", variables.grid_in_state, "assignments", r'state\["result"\]'),
    Row("op:FusedBatchNormV3", same(compat__v1__nn__fused_batch_norm=functions.fused_by_hand), "fused"),
    Row(V1_TRAINING + "minimize", training.minimize_everything, "var-list", r"minimize\(.*var_list="),
    Row(V1_TRAINING + "minimize", training.minimize_by_parts, "minimize"),
    Row(V1_TRAINING + "compute_gradients", training.parts_by_minimize, "parts", r"gradients\(adam\.compute|, add, b"),
    Row(V1_TRAINING + "apply_gradients", training.apply_all_gradients, "subset", r"gradients\[:1\]"),
    Row(V1_TRAINING + "get_slot", training.other_slots, "slots"),
    Row(r"called:keras\.optimizers\..*", training.all_together, "subset", "for trained in"),
    Row("built:AssignVariableOp", training.kept_slots, "slots"),
    Row(r"called:compat\.v1\.add_to_collection", variables.no_updates, "updates"),
    Row(r"called:compat\.v1\.get_collection", variables.chosen_by_name, "collection"),
    Row("(ran|built):(Resource)?ScatterSub", variables.no_scatter_sub, "scatter-sub"),
    Row("op:ResourceScatterSub", variables.not_scattered_to, "scatter-sub", r"\.scatter_sub\(tf\.Indexed"),
    Row(r"called:Variable\.load", variables.loaded_by_assign, "load"),
    Row(r"called:Variable\.assign", variables.not_assigned, "assign"),
    Row(r"called:Variable\.initialized_value", variables.initial_value, "initial-value"),
    Row(r"called:compat\.v1\.global_variables", variables.from_collection, "collection"),
    Row(r"called:Variable\.eval", variables.evaluated_by_run, "eval"),
    Row("op:AssignAdd(VariableOp)?", variables.same_variable, "copy", r"Variable\(original\b"),
    Row("ran:AssignAddVariableOp", variables.not_added_to, "assign-add", r"\.assign_add\(delta"),
    Row("op:", variables.same_variable, "copy", r"Variable\(original\b"),
    Row(r"called:compat\.v1\.train\.import_meta_graph", variables.imported_by_parts, "import"),
    Row(r"called:graph_util\.import_graph_def", variables.not_imported, "import", r"name=\"copy\""),
    Row(r"called:queue\.FIFOQueue", queues.lists, "queue"),
    Row(r"called:queue\.FIFOQueue", queues.names_of_their_own, "shared-name", "shared_name="),
    Row("ran:RandomShuffleQueueV2", queues.in_order, "shuffling"),
    Row(r"called:compat\.v1\.train\.QueueRunner", queues.one_runner, "runners", r"\] \* 4"),
    Row(r"called:compat\.v1\.train\.start_queue_runners", queues.started_runners, "start"),
    Row(r"called:train\.Coordinator", queues.one_thread, "threads"),
    Row("ran:QueueDequeueManyV2", queues.late_thread, "waiting", r"target=run_until_stopped.*batch"),
    Row("ran:ParallelMapDatasetV2", queues.one_call_at_a_time, "parallel-calls"),
    Row("(ran|built):RandomUniform", same(random__uniform=functions.drawn_by_hand), "random-number", "random.uniform"),
    Row(
        "built:StatelessRandomUniformV2",
        same(random__stateless_uniform=functions.drawn_by_hand),
        "random-number",
    ),
    Row(
        r"called:image\.random_flip_left_right",
        same(image__random_flip_left_right=functions.flip),
        "flip",
    ),
)
