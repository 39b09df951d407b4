"""The layers in NumPy, and the formulas of Keras' backends for a variance."""

import numpy as np

from tf_opdiff.suites.claims.c27_keras_numerics.reference import conv, matmul_bound

#: Products for each element of the issue's convolution: the kernel is 4 by 7 by the number of channels.
WINDOW = 4 * 7


def model(images, kernel, bias):
    """The result of the issue's model, and its sum."""
    outputs = conv(images, kernel) + bias
    return outputs, np.sum(outputs)


def model_bound(u, g, images, kernel, bias):
    """Each element adds as many products as its window has numbers, and the bias."""
    return (WINDOW * images.shape[3] + 1) * u * (conv(np.abs(images), np.abs(kernel)) + np.abs(bias))


def sum_bound(u, g, images, kernel, bias):
    """The errors of all elements, and those of adding them up in any order."""
    outputs = model_bound(u, g, images, kernel, bias)
    return np.sum(outputs) + outputs.size * u * np.sum(conv(np.abs(images), np.abs(kernel)) + np.abs(bias))


def one_after_the_other(x, kernel):
    """A product of matrices in float32 that adds its products one after the other, as a backend may."""
    total = np.zeros((x.shape[0], kernel.shape[1]), np.float32)
    for column, row in zip(x.astype(np.float32).T, kernel.astype(np.float32), strict=True):
        total = total + column[:, None] * row
    return total


def moments(x):
    """The mean, and the mean square of what is left without it: the formula of the backends for TensorFlow and JAX."""
    return np.mean(x, axis=0), np.mean(np.square(x - np.mean(x, axis=0)), axis=0)


def moments_by_squares(x):
    """The formula of the backends for NumPy and PyTorch, in float32: the mean of squares less the square of the mean.

    `moments` of https://github.com/keras-team/keras/blob/v3.15.1/keras/src/backend/numpy/nn.py
    """
    x = x.astype(np.float32)
    mean = np.mean(x, axis=0)
    return mean, np.mean(np.square(x), axis=0) - np.square(mean)


dense_bound = matmul_bound
