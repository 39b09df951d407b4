"""Topics: what the claims are about, in the order in which a learner would read them. The wording is that of the posts,
answers and slides that make the claims, restated; it is an opinion until a run has looked."""

from tf_opdiff.harness.spec.spec import Topic

POSTS = "posts and answers on overriding TensorFlow's back-propagation"
SLIDES = "course slides on TensorFlow 1.x"

C01 = Topic(
    id="C01",
    title="Replacing an addition by a Python function",
    program="A two-class net: d = x + c, e = c + k, a = d·e, softmax cross-entropy, Adam. e is replaced by a py_func "
    "of (c, k, d) that computes c + k, and its gradient is overridden to return ((e+d)·g, d·g, e·g).",
    origin=POSTS,
)
C02 = Topic(
    id="C02",
    title="TensorFlow ops inside a Python function",
    program="TensorFlow ops inside the Python function that is handed to py_func.",
    origin=POSTS,
)
C03 = Topic(
    id="C03",
    title="Attention by a Bernoulli sample",
    program="Forward, a Bernoulli sample times a feature map; backward, the upstream times the feature map.",
    origin="attention for clothing retrieval",
    link="https://arxiv.org/abs/1710.11446",
)
C04 = Topic(
    id="C04",
    title="stop_gradient in one of two paths",
    program="A value that reaches the loss by two paths, one of them through tf.stop_gradient.",
    origin=POSTS,
)
C05 = Topic(
    id="C05",
    title="Skipping a layer on the way back",
    program="A Keras Lambda(a): a runs forward, and is left out of the derivative.",
    origin=POSTS,
)
C06 = Topic(
    id="C06",
    title="An op in C++",
    program="An op and its kernel in C++, loaded as a library, its gradient registered in Python.",
    origin=POSTS,
    link="https://www.tensorflow.org/guide/create_op",
)
C07 = Topic(
    id="C07",
    title="Registering a gradient for Square",
    program="A gradient registered for the existing op type Square, as 2·g.",
    origin=SLIDES,
)
C08 = Topic(
    id="C08",
    title="Binarizing with a scale, the first attempt",
    program='sign(x) · mean(|x|) under the map {"Sign": "Identity"}.',
    origin=POSTS,
)
C09 = Topic(
    id="C09",
    title="Binarizing with a scale, mended",
    program='E = stop_gradient(mean(|x|)), then sign(x/E) · E under the map {"Sign": "Identity"}.',
    origin="re-implementations of XNOR-Net and DoReFa-Net",
    link="https://arxiv.org/abs/1606.06160",
)
C10 = Topic(
    id="C10",
    title="Binarizing with a gradient of one's own",
    program="The same, with a gradient that was registered under a name of one's own in place of Identity.",
    origin=POSTS,
)
C11 = Topic(
    id="C11",
    title="Three uses of tf.identity",
    program="tf.identity as a straight-through estimator, to move a tensor between devices, and as a node on which to "
    "hang control dependencies, as in the tower loss of the CIFAR-10 tutorial.",
    origin="answers on what tf.identity is for",
)
C12 = Topic(
    id="C12", title="The gradient of a selection", program="where(c, x, y), differentiated by all three.", origin=POSTS
)
C13 = Topic(
    id="C13",
    title="The gradient of a conditional",
    program="tf.cond, built of Switch and Merge, differentiated by what only one branch uses.",
    origin=SLIDES,
)
C14 = Topic(
    id="C14",
    title="A result that was assigned to",
    program="difference(prod, box) in float16, its result built by assigning to elements of a variable in loops.",
    origin="an answer on why a gradient is None",
)
C15 = Topic(
    id="C15",
    title="Frozen weights and Adam",
    program="Weights masked by M·W + stop_gradient(|1−M|·W), the mask changed between steps.",
    origin="answers on freezing part of a variable",
)
C16 = Topic(
    id="C16",
    title="A gradient at a shifted point",
    program="b = f(a), then tf.gradients(b, a + delta).",
    origin="an answer on estimating the norm of a Hessian",
)
C17 = Topic(
    id="C17",
    title="The gradient of floor",
    program="floor(x), the detour x − (x − floor(x)), and an override that returns the upstream; each checked with the "
    "framework's numeric gradient error.",
    origin=POSTS,
)
C18 = Topic(
    id="C18",
    title="Smooth stand-ins for floor and step",
    program="Piecewise linear, sigmoid and filtered relaxations of floor and step.",
    origin=POSTS,
)
C19 = Topic(
    id="C19",
    title="What an override map means",
    program='{"Floor": "Identity"} around ops none of which is a Floor, and {"Identity": "CustomGrad"}, giving 5·g, '
    'around tf.identity with and without name="Identity".',
    origin=POSTS,
)
C20 = Topic(
    id="C20",
    title="The updates of batch normalisation",
    program="Moving mean and variance assigned in a graph, and collected in UPDATE_OPS.",
    origin=SLIDES,
)
C21 = Topic(
    id="C21",
    title="Control dependencies and reads",
    program="x_plus_1 = assign_add(x, 1); under control dependencies on it y = x, y = identity(x) or y = x_plus_1; "
    "y is fetched five times.",
    origin="answers on tf.control_dependencies",
)
C22 = Topic(
    id="C22",
    title="Center loss",
    program="Centers moved by scatter_sub with the paper's Δc (count + 1 in the denominator), beside the train op.",
    origin="re-implementations of center loss",
    link="https://ydwen.github.io/papers/WenECCV16.pdf",
)
C23 = Topic(
    id="C23",
    title="Several networks",
    program="Two networks trained in turn, as in a semi-supervised GAN.",
    origin="answers on training two models",
    link="https://arxiv.org/abs/1606.01583",
)
C24 = Topic(
    id="C24",
    title="Copying weights",
    program="Variables copied with assign, with a new tf.Variable, by copying the graph, and with load.",
    origin="answers on copying a network",
)
C25 = Topic(
    id="C25",
    title="Queues and threads",
    program="FIFO and shuffling queues, several threads that dequeue, random transforms.",
    origin=SLIDES,
)
C26 = Topic(
    id="C26",
    title="gather out of range",
    program="gather([1, 2, 3, 4, 5], [0, 1, 6]).",
    origin="the documentation of tf.gather",
    link="https://www.tensorflow.org/api_docs/python/tf/gather",
)
