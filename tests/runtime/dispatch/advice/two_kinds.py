# python 3.11
# A variable that is None on one path, and an object that sees its attributes set on the other.
# >>> before([0.5, 3.5] * 9)
# >>> after([0.5, 3.5] * 9)


class Found:
    def __init__(self, x):
        self.x = x

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)


def before(xs):
    found = None
    for x in xs:
        if x > 1:
            found = Found(x)
    return found.x


def after(xs):
    found = -1.0
    for x in xs:
        if x > 1:
            found = x
    return found

# ------------------------------------------------------------ becomes
# before:
#   advice: line 18: `found` is an object of class Found on one path (line 19) and None on the other. Give it the
#     same type on both paths, such as -1 or math.nan instead of None
# after:
#   no advice
