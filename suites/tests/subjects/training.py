"""Optimizers that train other variables, whose slots are others, or that are called in another way."""

from tf_opdiff.suites.tests.subjects.replaced import Replaced

_V1 = ("GradientDescent", "Momentum", "Adam", "RMSProp", "Adagrad", "Ftrl")
_KERAS = ("SGD", "Adam", "RMSprop", "Adagrad", "Ftrl")


def of_optimizers(others):
    """A way that puts `others(tf, optimizer)` in the place of methods of each optimizer of version 1."""

    def way(tf):
        def made(kind):
            def make(*args, **more):
                optimizer = kind(*args, **more)
                return Replaced(optimizer, others(tf, optimizer))

            return make

        train = tf.compat.v1.train
        names = [f"{name}Optimizer" for name in _V1]
        return {f"compat.v1.train.{name}": made(getattr(train, name)) for name in names}

    return way


minimize_everything = of_optimizers(
    lambda tf, optimizer: {"minimize": lambda loss, var_list=None: optimizer.minimize(loss)}
)
minimize_by_parts = of_optimizers(
    lambda tf, optimizer: {
        "minimize": lambda loss, var_list=None: optimizer.apply_gradients(optimizer.compute_gradients(loss, var_list))
    }
)
parts_by_minimize = of_optimizers(
    lambda tf, optimizer: {
        "compute_gradients": lambda loss, var_list=None: (loss, var_list),
        "apply_gradients": lambda pair: optimizer.minimize(pair[0], var_list=pair[1]),
    }
)


def _remembering(tf, optimizer):
    computed = []

    def compute_gradients(loss, var_list=None):
        computed.append(optimizer.compute_gradients(loss, var_list))
        return computed[-1]

    def apply_gradients(some):
        return optimizer.apply_gradients(computed[-1])

    return {"compute_gradients": compute_gradients, "apply_gradients": apply_gradients}


apply_all_gradients = of_optimizers(_remembering)
other_slots = of_optimizers(
    lambda tf, optimizer: {
        "get_slot": lambda variable, name: tf.compat.v1.Variable(tf.zeros(variable.shape, variable.dtype.base_dtype))
    }
)


class _Kept:
    """A slot of an optimizer that is never assigned to by others."""

    def __init__(self, slot):
        self.slot = slot

    def __mul__(self, other):
        return self.slot * other

    def assign(self, _value):
        pass

    def __tf_tensor__(self, dtype=None, name=None):
        return self.slot.value


def _keras(change):
    """A way that changes every optimizer of Keras when it is made: `change(make)` makes it."""

    def way(tf):
        def made(kind):
            return lambda *args, **more: change(tf, lambda: kind(*args, **more))

        return {f"keras.optimizers.{name}": made(getattr(tf.keras.optimizers, name)) for name in _KERAS}

    return way


class _WithKeptSlots:
    def __init__(self, optimizer):
        self._optimizer, self.apply, self.build = optimizer, optimizer.apply, optimizer.build

    @property
    def variables(self):
        return [_Kept(slot) for slot in self._optimizer.variables]


kept_slots = _keras(lambda tf, make: _WithKeptSlots(make()))


class _Together:
    """One optimizer for all variables for which optimizers are built; it trains all of them, some by zeros."""

    def __init__(self, tf, make, built):
        self.tf, self.make, self.built, self.optimizer = tf, make, built, None

    def build(self, variables):
        self.built += [(self, variable) for variable in variables]
        optimizer = self.make()
        optimizer.build([variable for _, variable in self.built])
        for other, _ in self.built:
            other.optimizer = optimizer

    def apply(self, gradients, trained):
        optimizer = self.optimizer or self.make()
        pairs = list(zip(gradients, trained, strict=True))
        left_out = [v for _, v in self.built if not any(v is variable for variable in trained)]
        pairs += [(self.tf.zeros_like(variable), variable) for variable in left_out]
        optimizer.apply(*map(list, zip(*pairs, strict=True)))


def all_together(tf):
    built = []
    return _keras(lambda tf, make: _Together(tf, make, built))(tf)


def inference(tf):
    """Batch normalisation that never is in training."""

    class Layer:
        def __init__(self, layer):
            self._layer = layer

        def __getattr__(self, name):
            return getattr(self._layer, name)

        def __call__(self, x, training):
            return self._layer(x, training=False)

    return {"keras.layers.BatchNormalization": lambda **more: Layer(tf.keras.layers.BatchNormalization(**more))}
