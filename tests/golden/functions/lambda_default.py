# Defaults are evaluated where they stand; the lambda's body is converted.
# >>> [g(1) for g in f([1, 2])]
def f(xs):
    return [lambda y, x=x: x + y if x > y else 0 for x in xs]

# ------------------------------------------------------------ becomes
def f(xs):
    return ag__.list_comp(xs, lambda x: lambda y, x=x: ag__.if_exp(x > y, lambda: x + y, lambda: 0))
