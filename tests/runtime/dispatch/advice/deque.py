# python 3.11
# A queue.
# >>> before(50)
# >>> after(50)
from collections import deque

import numpy as np


def before(n):
    queue = deque([1])
    total = 0
    while queue:
        x = queue.popleft()
        total += x
        if x < n:
            queue.append(x + 1)
        if x % 7 == 6:
            queue.remove(x + 1)
            queue.append(x + 2)
    return total


def after(n):
    queue = np.zeros(n + 1, dtype=int)
    queue[0] = 1
    first, last = 0, 1
    total = 0
    while first < last:
        x = queue[first]
        first += 1
        total += x
        if x < n:
            queue[last] = x + 1 + (x % 7 == 6)
            last += 1
    return total

# ------------------------------------------------------------ becomes
# before:
#   advice: line 19: `queue` is a deque. Use an array, and the places of its first and last element
# after:
#   no advice
