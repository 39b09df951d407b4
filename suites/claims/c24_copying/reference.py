"""What two variables hold after a change of each."""


def apart(x, change):
    """What comes of two variables: a change of one does not show in the other."""
    return x, x + change


def apart_in_the_end(x, change):
    return x, x + change, {"original": x + change, "copy": x - change}


def one(x, change):
    """What comes of one variable under two names."""
    return x + change, x
