"""Installation: the devices, kernels, ops and traits that TensorFlow has on this machine."""

#: The modules that other rooms may import.
__all__ = (
    "kernel_list",
    "probe",
    "tensorflow_setup",
)
