# A single comparison is the operands' own affair.
# >>> f(1, 2)
def f(a, b):
    return a < b, a == b, a is b, a is not None

# ------------------------------------------------------------ becomes
def f(a, b):
    return a < b, a == b, ag__.is_(a, b), a is not None
