"""Array ops: what ops share that put elements in other places, read them or combine them there."""
