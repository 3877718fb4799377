# python 3.11
# An argument that a loop needs to be unrolled.
# >>> before(2.0, 1); before(2.0, 2); before(2.0, 3); before(2.0, 4)
# >>> after(2.0, 1); after(2.0, 2); after(2.0, 3); after(2.0, 4)
import autograph as ag


def before(x, n):
    for _ in range(n):
        ag.set_loop_options(unroll=True)
        x = x * 0.5
    return x


def after(x, n):
    for _ in range(n):
        x = x * 0.5
    return x

# ------------------------------------------------------------ becomes
# before:
#   advice: line 9: each value of `n` is traced anew, as it is needed to unroll this loop. Pass few different
#     values, or use an array and its elements instead
# after:
#   no advice
