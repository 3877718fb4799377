# python 3.11
# Functions that only Python can run: they look at frames, set attributes of functions.
# >>> before(3.0)
# >>> sets_an_attribute(3.0)
# >>> after(3.0)
import sys


def caller():
    return sys._getframe(1).f_code.co_name


def before(x):
    return x * len(caller())


def sets_an_attribute(x):
    after.last = x
    return x


def after(x):
    return x * len("after")

# ------------------------------------------------------------ becomes
# before:
#   advice: line 14: `caller` looks at the variables of other functions. Call it outside of this function
# sets_an_attribute:
#   advice: line 18: an attribute of the function `after` is set. Return the value, and set the attribute in the
#     caller
# after:
#   no advice
