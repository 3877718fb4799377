# python 3.11
# A dict with keys that are computed.
# >>> before([3, 1, 4, 1, 5] * 20)
# >>> after(np.array([3, 1, 4, 1, 5] * 20))
import numpy as np


def before(values):
    counts = {}
    for value in values:
        counts[value % 3] = counts.get(value % 3, 0) + 1
        counts.update(last=value)
    return counts


def after(values):
    counts = np.zeros(4, dtype=int)
    for value in values:
        counts[value % 3] += 1
        counts[3] = value
    return counts

# ------------------------------------------------------------ becomes
# before:
#   advice: line 12: `counts` is a dict. If its keys are small integers, make it an array, and use them as indexes
# after:
#   no advice
