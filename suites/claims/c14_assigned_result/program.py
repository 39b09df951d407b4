"""The volumes between corners, assigned, stacked, or broadcast."""


def zero_result(tf, prod, box):
    return {"result": tf.Variable(tf.zeros([prod.shape[0], box.shape[0]], prod.dtype))}


def difference_by_assigning(tf, state, prod, box):
    result, assigned = state["result"], []
    for i in range(prod.shape[0]):
        for j in range(box.shape[0]):
            volume = tf.reduce_prod(tf.abs(prod[i] - box[j]))
            assigned.append(result[i, j].assign(volume))
    with tf.control_dependencies(assigned):
        return tf.identity(result)


def difference_by_stacking(tf, prod, box):
    rows = []
    for i in range(prod.shape[0]):
        volumes = [tf.reduce_prod(tf.abs(prod[i] - box[j])) for j in range(box.shape[0])]
        rows.append(tf.stack(volumes))
    return tf.stack(rows)


def difference(tf, prod, box):
    sides = tf.abs(prod[:, tf.newaxis, :] - box[tf.newaxis, :, :])
    return tf.reduce_prod(sides, axis=-1)


# As the post is restated: loops over tf.range and over columns, and the variable made in the function.
def difference_as_written(tf, prod, box):
    result = tf.Variable(tf.zeros([prod.shape[1], box.shape[1]], tf.float16))
    for i in tf.range(prod.shape[1]):
        for j in tf.range(box.shape[1]):
            volume = tf.reduce_prod(box[:, j])
            result[i, j].assign((volume - tf.reduce_prod(prod[:, i])) / volume)
    return result


def difference_in_function(tf, prod, box):
    @tf.function
    def difference(prod, box):
        result = tf.Variable(tf.zeros([prod.shape[1], box.shape[1]], tf.float16))
        for i in tf.range(prod.shape[1]):
            for j in tf.range(box.shape[1]):
                volume = tf.reduce_prod(box[:, j])
                result[i, j].assign((volume - tf.reduce_prod(prod[:, i])) / volume)
        return result

    return difference(prod, box)


def difference_rewritten(tf, prod, box):
    volumes = tf.reduce_prod(box, axis=0)
    return (volumes - tf.reduce_prod(prod, axis=0)[:, tf.newaxis]) / volumes
