"""Masked weights trained by RMSProp, Adagrad and Ftrl: of Keras, and of `tf.compat.v1.train` in a session."""

from tf_opdiff.suites.claims.c15_frozen_weights.session_program import train_in_session


def with_rmsprop(tf, weights, masks, x, y):
    w = tf.Variable(weights)
    rmsprop = tf.keras.optimizers.RMSprop(0.125, rho=0.75, epsilon=2**-10)
    rmsprop.build([w])
    return {"w": w, "_optimizer": rmsprop}


def with_adagrad(tf, weights, masks, x, y):
    w = tf.Variable(weights)
    adagrad = tf.keras.optimizers.Adagrad(0.125, initial_accumulator_value=0.125, epsilon=0)
    adagrad.build([w])
    return {"w": w, "_optimizer": adagrad}


def with_ftrl(tf, weights, masks, x, y):
    w = tf.Variable(weights)
    ftrl = tf.keras.optimizers.Ftrl(0.125, initial_accumulator_value=0.125)
    ftrl.build([w])
    return {"w": w, "_optimizer": ftrl}


def rmsprop_in_session(tf, session, weights, masks, x, y):
    rmsprop = tf.compat.v1.train.RMSPropOptimizer(0.125, decay=0.75, epsilon=2**-10)
    return train_in_session(tf, session, rmsprop, weights, masks, x, y)


def adagrad_in_session(tf, session, weights, masks, x, y):
    adagrad = tf.compat.v1.train.AdagradOptimizer(0.125, initial_accumulator_value=0.125)
    return train_in_session(tf, session, adagrad, weights, masks, x, y)


def ftrl_in_session(tf, session, weights, masks, x, y):
    ftrl = tf.compat.v1.train.FtrlOptimizer(0.125, initial_accumulator_value=0.125)
    return train_in_session(tf, session, ftrl, weights, masks, x, y)
