"""Ops on the windows of images: convolutions, dilations and pooling."""
