"""The one generic test: every item of every suite, with its cases and plans inside."""


def test_op(item, check):
    check(item)
