# python 3.11
# A class that is tested in a loop.
# >>> before([1.5, 2, 2.5] * 9)
# >>> after([1.5, 2.0, 2.5] * 9)
def before(xs):
    total = 0.0
    for x in xs:
        if isinstance(x, float):
            total += x
    return total


def after(xs):
    total = 0.0
    for x in xs:
        total += x
    return total

# ------------------------------------------------------------ becomes
# before:
#   advice: line 8: the class of `x` is tested, which is known only when the loop runs. Make a list of one class,
#     such as `[float(x) for x in xs]`, before this function is called
# after:
#   no advice
