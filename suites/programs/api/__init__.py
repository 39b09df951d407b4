"""Functions of TensorFlow's Python API, each against the mathematics of its documentation."""
