# python 3.11
# A function without machine code.
# >>> before(np.arange(9.0), 500)
# >>> after(np.arange(9.0), 500)
import numpy as np


def before(xs, n):
    total = 0.0
    for i in range(n):
        total += np.sort(xs * i)[i % 9] * 0.5
    return total


def after(xs, n):
    total = 0.0
    ordered = np.sort(xs)
    for i in range(n):
        total += ordered[i % 9] * i * 0.5
    return total

# ------------------------------------------------------------ becomes
# before:
#   advice: line 11: machine code calls Python for `np.sort(xs * i)`. Move it out of the loop
# after:
#   no advice
