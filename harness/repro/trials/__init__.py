"""Trials: the setting of TensorFlow on which a discrepancy depends, and whether TensorFlow's tests notice it."""

#: The modules that other rooms may import.
__all__ = (
    "attribute",
    "attribution",
    "setting_trials",
)
