"""Functions of `tf.image` that call one raw op."""

from tf_opdiff.suites.forms.programs.public import Public, twins
from tf_opdiff.suites.ops.image import crop, patches, suppression


def _cropped(f, image, boxes, box_ind, crop_size, **more):
    return f(image, boxes, box_ind, crop_size, **more)


def _suppressed(f, boxes, scores, max_output_size, iou_threshold, score_threshold):
    return f(boxes, scores, max_output_size, iou_threshold, score_threshold)


SPECS = (
    *twins(crop, Public("image.crop_and_resize", call=_cropped)),
    *twins(patches, Public("image.extract_patches", of="extract-image-patches")),
    *twins(suppression, Public("image.non_max_suppression", of="non-max-suppression-v3", call=_suppressed)),
)
