# Conditional expressions, one in the other.
# >>> [sign(x) for x in (-2, 0, 2)]
def sign(x):
    return -1 if x < 0 else 1 if x > 0 else 0

# ------------------------------------------------------------ becomes
def sign(x):
    return ag__.if_exp(x < 0, lambda: -1, lambda: ag__.if_exp(x > 0, lambda: 1, lambda: 0))
