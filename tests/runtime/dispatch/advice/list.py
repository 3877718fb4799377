# python 3.11
# A list that shrinks.
# >>> before([1.5, 2.5, 3.5] * 9)
# >>> after(np.array([1.5, 2.5, 3.5] * 9))
def before(xs):
    total = 0.0
    while len(xs) > 3:
        total = total * 0.5 + xs.pop()
    return total


def after(xs):
    total = 0.0
    last = len(xs)
    while last > 3:
        last -= 1
        total = total * 0.5 + xs[last]
    return total

# ------------------------------------------------------------ becomes
# before:
#   advice: line 8: `xs` is a list of floats. Make it a NumPy array, whose elements machine code reads and sets
# after:
#   no advice
