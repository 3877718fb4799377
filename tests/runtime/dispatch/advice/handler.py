# python 3.11
# An exception handler around operations in a loop.
# >>> before([1.0, 0.0, 2.0])
# >>> after(np.array([1.0, 0.0, 2.0]))


def before(xs):
    total = 0.0
    for x in xs:
        try:
            total += 1 / x
        except ZeroDivisionError:
            total += 9
    return total


def after(xs):
    total = 0.0
    for x in xs:
        if x == 0:
            total += 9
        else:
            total += 1 / x
    return total

# ------------------------------------------------------------ becomes
# before:
#   advice: line 11: operations in a loop are inside of `except`. Move the loop into a function of its own, and call
#     that inside of `except`
# after:
#   no advice
