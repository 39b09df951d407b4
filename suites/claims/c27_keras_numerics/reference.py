"""The functions in NumPy, which is another backend of Keras."""

import numpy as np

DILATION = 3, 2


def conv(images, kernel):
    """A dilated convolution, NHWC, with as many zeros around the images as keep their size; the odd one comes last."""
    around = [(n - 1) * d for n, d in zip(kernel.shape[:2], DILATION, strict=True)]
    padded = np.pad(images, [(0, 0), *((n // 2, n - n // 2) for n in around), (0, 0)])
    height, width = images.shape[1:3]
    total = np.zeros((*images.shape[:3], kernel.shape[3]))
    for row in range(kernel.shape[0]):
        for column in range(kernel.shape[1]):
            top, left = row * DILATION[0], column * DILATION[1]
            total += padded[:, top : top + height, left : left + width] @ kernel[row, column]
    return total


def conv_bound(u, g, images, kernel):
    """A sum of n products, taken in any order, rounds n times at most."""
    return int(np.prod(kernel.shape[:3])) * u * conv(np.abs(images), np.abs(kernel))


def matmul_bound(u, g, a, b):
    """The largest error of a product of matrices."""
    return a.shape[1] * u * (np.abs(a) @ np.abs(b))
