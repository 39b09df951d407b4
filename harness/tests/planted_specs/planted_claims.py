"""Planted claims: some that hold, some that do not, and expectations of both that are wrong."""

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import plain
from tf_opdiff.harness.spec.spec import Claim, Raises, Side, Spec, Topic, Unavailable

TOPIC = Topic(id="C99", title="Planted", program="floor(x).", origin="nowhere")
WHY = "floor is not ceil"


def claim(letter, **more):
    return Claim(topic=TOPIC, letter=letter, says=f"It does {letter}.", **{"about": ("output",)} | more)


def floor(tf, x):
    return tf.floor(x)


def spec(name, *claims, **more):
    defaults = {"program": floor, "reference": np.floor, "vjp": lambda g, x: None, "ops": "Floor"}
    return Spec(name=name, recipes={"plain": plain}, claims=claims, **defaults | more)


def stops(tf, x):
    raise NameError("name 'floor' is not defined")


def fails(tf, x):
    with tf.control_dependencies([tf.debugging.assert_less(x, -1e9)]):
        return tf.floor(x)


def refuses(tf, x):
    raise KeyError("as promised")


def lacks_a_compiler(tf, x):
    raise Unavailable("no C++ compiler on the PATH")


def in_two_sessions(tf, session, x):
    with session() as s:
        first = s.run(tf.floor(tf.compat.v1.placeholder_with_default(x, x.shape)))
    with session() as s, session(s.graph) as other:
        again = tf.floor(tf.compat.v1.placeholder(x.dtype, x.shape, name="x"))
        return first, other.run(again, {"x:0": x})


def session_elsewhere(tf, session, x):
    with session() as s, tf.device("CPU:0"):
        return s.run(tf.floor(tf.compat.v1.placeholder_with_default(x, x.shape)))


def session_that_folds(tf, session, x):
    with session() as s:
        return s.run(tf.identity(np.floor(x)))


def floor_beside_the_host(tf, x):
    with tf.device("CPU:0"):
        higher = tf.math.ceil(tf.identity(x))
    return tf.floor(x), tf.identity(higher)


def floor_beside_what_is_pruned(tf, x):
    tf.negative(x)
    return tf.floor(x)


def refuses_by_itself(tf, x):
    raise KeyError("Registering two gradient with name")


#: What a spec may ask for, and what is said of `floor`, which has none of it.
LACKING = {
    "ran:Ceil": "no Ceil in the executed graph",
    "built:Ceil": "no Ceil in the graph that was built",
    "replaced:Floor=Identity": "no map replaced the gradient of an op: expected Floor=Identity",
    "called:compat.v1.py_func": "the program did not call tf.compat.v1.py_func",
    "called:floor(name=Named)": "the program did not call tf.floor(name=Named)",
    "called:Graph.gradient_override_map": "the program did not call tf.Graph.gradient_override_map",
    "waits:Floor=Neg": "no op waits for another by a control input: expected Floor=Neg",
    "graphs:2": "the program ran 0 graphs, expected 2",
}


def named_floor_that_waits(tf, x):
    with tf.control_dependencies([tf.negative(x)]):
        return tf.floor(x, name="Named")


def keeps_a_counter(tf, state, x):
    state["_calls"].append(None)
    return state["v"].assign_add(tf.floor(x)).read_value()


SPECS = (
    spec(
        "claimed",
        claim("a"),
        claim("b", reference=np.ceil, refuted={"*/*": WHY}),
        claim("c", reference=np.ceil, refuted={"*/eager": WHY}),
        claim("d", refuted={"*/xla": WHY}),
        claim("e", reference=np.ceil, denies=True),
        claim("f", denies=True, refuted={"*/*": "it does just that"}),
        claim("g", about=("grad",), vjp=lambda g, x: np.zeros_like(x), refuted={"*/*": "None is not zeros"}),
        claim("h", plans=("*/graph", "gpu/*")),
        claim("i", reference=lambda x: Raises("INVALID_ARGUMENT"), refuted={"*/*": "it does not raise"}),
    ),
    spec("claimed-misshapen", claim("j", reference=lambda x: np.floor(x)[:3], refuted={"*/*": WHY})),
    spec("claimed-of-nothing", claim("k", about=("output[7]",))),
    spec("claimed-to-raise", claim("l", reference=lambda x: 1 / 0)),
    spec(
        "claimed-apart",
        claim("m", refuted={"*/eager": "eager rounds up"}),
        program=lambda tf, x: tf.math.ceil(x) if tf.executing_eagerly() else tf.floor(x),
        contract={"*/eager": Side(reference=np.ceil, why="eager rounds up")},
        vjp=None,
        ops="",
    ),
    *(
        spec(
            name,
            claim(letters[0], denies=True),
            claim(letters[1], reference=np.ceil, refuted={"*/*": WHY}),
            program=program,
            modes=("eager", "graph"),
        )
        for name, letters, program in (("claimed-that-stops", "op", stops), ("claimed-that-fails", "qr", fails))
    ),
    spec(
        "claimed-that-refuses",
        claim("s", denies=True, reference=np.floor),
        program=refuses,
        reference=lambda x: Raises("KeyError", "as promised"),
        vjp=None,
        ops="",
    ),
    spec("lacks-a-compiler", claim("n"), program=lacks_a_compiler, modes=("eager", "graph")),
    spec(
        "lacks-what-would-raise",
        program=lacks_a_compiler,
        reference=lambda x: Raises("INVALID_ARGUMENT"),
        vjp=None,
        modes=("eager",),
    ),
    spec(
        "two-sessions",
        program=in_two_sessions,
        reference=lambda x: (np.floor(x), np.floor(x)),
        vjp=None,
        modes=("graph",),
        sessions=True,
    ),
    *(
        spec(name, program=program, vjp=None, modes=("graph",), sessions=True)
        for name, program in (("session-elsewhere", session_elsewhere), ("session-that-folds", session_that_folds))
    ),
    *(
        spec(f"without-evidence-{i}", vjp=None, evidence=evidence, modes=("eager", "graph"))
        for i, evidence in enumerate(LACKING)
    ),
    spec(
        "refuses-by-itself",
        program=refuses_by_itself,
        reference=lambda x: Raises("KeyError", "Registering two gradient with name"),
        vjp=None,
        ops="",
        evidence="called:RegisterGradient",
    ),
    *(
        spec(f"with-evidence-{i}", program=named_floor_that_waits, vjp=None, evidence=evidence, modes=("graph",))
        for i, evidence in enumerate(("called:floor(name=Named)", "waits:Floor=Neg"))
    ),
    spec("what-is-pruned", program=floor_beside_what_is_pruned, vjp=None, evidence="built:Neg", modes=("graph",)),
    spec(
        "beside-the-host",
        program=floor_beside_the_host,
        reference=lambda x: (np.floor(x), np.ceil(x)),
        vjp=None,
        evidence="ran:Ceil",
        modes=("eager", "graph"),
    ),
    spec(
        "keeps-a-counter",
        program=keeps_a_counter,
        state=lambda tf, x: {"v": tf.Variable(x), "_calls": []},
        reference=lambda x: (np.stack([x + np.floor(x), x + 2 * np.floor(x)]), {"v": x + 2 * np.floor(x)}),
        ulp={"output": 1},
        vjp=None,
        steps=2,
        ops="AssignAddVariableOp",
    ),
)
