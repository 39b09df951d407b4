"""Device servers: processes that own a device and run programs on it. TensorFlow is imported in this room alone."""
