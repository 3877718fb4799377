# python 3.11
# A list that a comprehension makes.
# >>> before([1.5, 2.5] * 9)
# >>> after(np.array([1.5, 2.5] * 9))


def before(xs):
    return [x / 2 for x in xs]


def after(xs):
    return xs / 2

# ------------------------------------------------------------ becomes
# before:
#   advice: line 8: a comprehension makes a list, dict or set. Make an array instead, such as `xs / 2`
# after:
#   no advice
