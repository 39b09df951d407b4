"""State: what ops share that read and change variables, lists and arrays of tensors."""
