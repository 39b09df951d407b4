"""Functions of `tf.nn` of layers, and of blocks of images."""

from tf_opdiff.suites.forms.programs.public import Public, twins
from tf_opdiff.suites.ops.array.layouts import blocks
from tf_opdiff.suites.ops.nn.layers import bias, local_response

SPECS = (
    *twins(blocks, "nn.depth_to_space", "nn.space_to_depth", Public("nn.space_to_batch", of="space-to-batch-nd")),
    *twins(bias, "nn.bias_add"),
    *twins(local_response, Public("nn.local_response_normalization", of="lrn")),
)
