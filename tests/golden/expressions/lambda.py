# The body of a lambda is converted like any expression.
# >>> pick()(3), pick()(-3)
def pick():
    return lambda x, y=1: x if x > y else (x, y)

# ------------------------------------------------------------ becomes
def pick():
    return lambda x, y=1: ag__.if_exp(x > y, lambda: x, lambda: (x, y))
