"""A conditional by `tf.cond`, and by Switch and Merge."""


def conditional(tf, p, x, y, z):
    return tf.cond(p, lambda: x * y, lambda: x * z)


def conditional_v1(tf, p, x, y, z):
    tf.compat.v1.disable_control_flow_v2()
    try:
        return tf.compat.v1.cond(p, lambda: x * y, lambda: x * z)
    finally:
        tf.compat.v1.enable_control_flow_v2()


def switched(tf, p, x, y, z):
    x_false, x_true = tf.raw_ops.Switch(data=x, pred=p)
    _, y_true = tf.raw_ops.Switch(data=y, pred=p)
    z_false, _ = tf.raw_ops.Switch(data=z, pred=p)
    return tf.raw_ops.Merge(inputs=[x_false * z_false, x_true * y_true]).output


def inside_branch(tf, p, x):
    x_false, x_true = tf.raw_ops.Switch(data=x, pred=p)
    y = tf.raw_ops.Merge(inputs=[x_false * x_false, x_true * 4.0]).output
    return tf.gradients(y, x_false)[0]
