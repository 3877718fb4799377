# python 3.11
# A list that shrinks.
# >>> before([1.5, 2.5, 3.5] * 9)
# >>> after(np.array([1.5, 2.5, 3.5] * 9))
def before(xs):
    total = 0.0
    while len(xs) > 3:
        total = total * 0.5 + xs[-1]
        xs[-1:] = ()
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
#   advice:
#     line 9: `xs` is a list of floats. Make it a NumPy array, whose elements machine code reads and sets
#     line 8: machine code calls Python for `total * 0.5 + xs[-1]`. Move it out of the loop, or compute it in the
#     loop with numbers and elements of arrays
# after:
#   no advice
