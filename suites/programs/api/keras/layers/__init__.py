"""Layers of `tf.keras.layers`: https://keras.io/api/layers/."""
