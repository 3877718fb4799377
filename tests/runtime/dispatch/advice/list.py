# python 3.11
# A list whose elements are set.
# >>> before([1.5, 2.5, 3.5] * 9)
# >>> after(np.array([1.5, 2.5, 3.5] * 9))


def before(xs):
    for i in range(1, len(xs)):
        xs[i] = xs[i - 1] * 0.5 + xs[i]
    return xs


def after(xs):
    for i in range(1, len(xs)):
        xs[i] = xs[i - 1] * 0.5 + xs[i]
    return xs

# ------------------------------------------------------------ becomes
# before:
#   advice: line 9: `xs` is a list of floats. Make it a NumPy array, whose elements machine code reads and sets
# after:
#   no advice
