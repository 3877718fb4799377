# python 3.11
# A list of mixed numbers.
# >>> before([1, 2.5, 3] * 5)
# >>> after(np.array([1, 2.5, 3] * 5))


def before(xs):
    total = 0
    for i in range(1, len(xs)):
        xs[i] = xs[i - 1] * 0.5 + xs[i]
        total += xs[i]
    return total


def after(xs):
    total = 0
    for i in range(1, len(xs)):
        xs[i] = xs[i - 1] * 0.5 + xs[i]
        total += xs[i]
    return total

# ------------------------------------------------------------ becomes
# before:
#   advice: line 10: `xs` is a list of floats and ints ×2. Give all its numbers one type, or make it a NumPy array
# after:
#   no advice
