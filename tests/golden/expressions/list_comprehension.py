# Over one name and one iterable.
# >>> f([1, 2, 3])
def f(xs):
    return [x * x for x in xs], [x for x in xs if x > 1]

# ------------------------------------------------------------ becomes
def f(xs):
    return ag__.list_comp(xs, lambda x: x * x), ag__.list_comp(xs, lambda x: x, lambda x: x > 1)
