# Calls that look at the frame that makes them, or at the one below.
# >>> f(1), f(0)
import sys
import warnings


def f(n):
    if n > 0:
        name = sys._getframe().f_code.co_name
    else:
        name = "?"
    if n > 5:
        warnings.warn("deprecated", DeprecationWarning, stacklevel=2)
    if n > 5:
        warnings.warn("here")
    return name

# ------------------------------------------------------------ becomes
import sys
import warnings


def f(n):
    if n > 0:
        name = sys._getframe().f_code.co_name
    else:
        name = "?"
    if n > 5:
        warnings.warn("deprecated", DeprecationWarning, stacklevel=2)

    def if_body():
        warnings.warn("here")
    ag__.if_stmt(n > 5, if_body)
    return name
