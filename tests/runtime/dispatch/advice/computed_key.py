# python 3.11
# A dict with keys that are elements of an array.
# >>> before(np.array([3, 1, 4]))
# >>> after(np.array([3, 1, 4]))
import numpy as np


def before(values):
    places = {}
    for value in values:
        places[value] = {value: 1}
    return places


def after(values):
    places = np.zeros(10, dtype=int)
    for value in values:
        places[value] = 1
    return places

# ------------------------------------------------------------ becomes
# before:
#   advice: line 11: `value`, which is computed here, is a key of a dict or an element of a set. If the keys are
#     small integers, use an array, and the keys as indexes
# after:
#   no advice
