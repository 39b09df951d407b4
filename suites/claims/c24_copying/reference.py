"""The values of a variable and its copy after a change of each."""


def apart(x, change):
    """The values of two variables: a change of one does not show in the other."""
    return x, x + change


def apart_in_the_end(x, change):
    """The results of `apart`, and what both variables hold in the end."""
    return x, x + change, {"original": x + change, "copy": x - change}


def one(x, change):
    """The values of one variable under two names."""
    return x + change, x
