# `with` stays, and its block is converted.
# >>> f(1), f(0)
from contextlib import nullcontext as same


def f(n):
    with same(n) as a, same([n]) as (b,):
        if a > 0:
            b += 1
    with (
        same(1),
        same(b) as c,
    ):
        pass
    return b, c

# ------------------------------------------------------------ becomes
from contextlib import nullcontext as same


def f(n):
    with same(n) as a, same([n]) as (b,):
        def if_body():
            nonlocal b
            b += 1
        ag__.if_stmt(a > 0, if_body, None, ('b',))
    with (
        same(1),
        same(b) as c,
    ):
        pass
    return b, c
