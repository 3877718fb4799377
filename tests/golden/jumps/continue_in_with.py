# Out of a `with` in a loop.
# >>> f([1, -1, 2])
from contextlib import suppress


def f(xs):
    out = []
    for x in xs:
        with suppress(ValueError):
            if x < 0:
                continue
            out.append(x)
        out.append("after")
    return out

# ------------------------------------------------------------ becomes
from contextlib import suppress


def f(xs):
    out = []

    def loop_body(x):
        continue_ = False
        with suppress(ValueError):
            def if_body():
                nonlocal continue_
                continue_ = True

            def else_body():
                ag__.call(out.append)(x)
            ag__.if_stmt(x < 0, if_body, else_body, ('continue_',))

        def if_body():
            ag__.call(out.append)("after")
        ag__.if_stmt(ag__.not_(continue_), if_body)
    ag__.for_stmt(xs, loop_body)
    return out
