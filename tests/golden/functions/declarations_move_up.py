# `global` and `nonlocal` inside a block count for the whole function, so they stay with it.
# >>> f(1), f(0), seen
seen = 0


def f(n):
    """Counts."""
    if n > 0:
        global seen
        seen = n
    return seen

# ------------------------------------------------------------ becomes
seen = 0


def f(n):
    """Counts."""
    global seen

    def if_body():
        global seen
        seen = n
    ag__.if_stmt(n > 0, if_body, None, ('seen',))
    return seen
