"""The machine around a run: interrupts, compilers, terminals and progress."""
