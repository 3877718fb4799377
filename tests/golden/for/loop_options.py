# A directive goes to the operator; at run time it would do nothing.
# >>> total([1, 2, 3])
import autograph as ag


def total(xs):
    s = 0
    for x in xs:
        ag.set_loop_options(max_unroll=4)
        s += x
    return s

# ------------------------------------------------------------ becomes
import autograph as ag


def total(xs):
    s = 0

    def loop_body(x):
        nonlocal s
        s += x
    ag__.for_stmt(xs, loop_body, ('s',), options={'max_unroll': 4})
    return s
