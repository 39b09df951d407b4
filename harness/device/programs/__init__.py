"""Programs: a spec's program, run in every mode, with its gradients and evidence. Imported in device servers only."""

#: The modules that other rooms may import.
__all__ = (
    "dependence",
    "gradients",
    "results",
)
