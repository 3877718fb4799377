# Python reduces `in` to a bool; a staged one must not be.
# >>> f(1, [1, 2])
def f(x, xs):
    return x in xs, x not in xs, -x in [x, -x]

# ------------------------------------------------------------ becomes
def f(x, xs):
    return ag__.in_(x, xs), ag__.not_in(x, xs), ag__.in_(-x, [x, -x])
