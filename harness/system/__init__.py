"""The machine around a run: interrupts, compilers, terminals and progress."""

#: The modules that other rooms may import.
__all__ = (
    "changes",
    "companion",
    "compiler",
    "file_cache",
    "interrupt",
    "memory",
    "number_argument",
    "process_state",
    "processor",
    "progress",
    "sudden_exit",
    "terminal",
    "text_file",
)
