"""Images: references of colours, sizes, crops, boxes and warps."""
