# python 3.11
# A function without machine code.
# >>> before(9, 500)
# >>> after(9, 500)
import bisect


def before(n, m):
    total = 0.0
    for i in range(m):
        total += bisect.bisect(range(n), i) * 0.5
    return total


def after(n, m):
    total = 0.0
    for i in range(m):
        total += min(i + 1, n) * 0.5
    return total

# ------------------------------------------------------------ becomes
# before:
#   advice: line 11: `bisect.bisect(range(n), i)` has no machine code. Move it out of the loop, or compute it in the
#     loop with numbers and elements of arrays
# after:
#   no advice
