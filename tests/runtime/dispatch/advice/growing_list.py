# python 3.11
# A list that grows.
# >>> before(20)
# >>> after(20)
import numpy as np


def before(n):
    squares = []
    for i in range(n):
        squares.append(i * i)
    return squares


def after(n):
    squares = np.zeros(n, dtype=int)
    for i in range(n):
        squares[i] = i * i
    return squares

# ------------------------------------------------------------ becomes
# before:
#   advice: line 11: `squares` grows in this loop. Make an array of its final length before the loop, and set its
#     elements
# after:
#   no advice
