# Arguments of every kind stay as they are.
# >>> f([1], {"k": 2})
def g(*args, **kwargs):
    return args, kwargs


def f(xs, options):
    return g(0, *xs, *[2], a=3, **options, **{"z": g(1)})

# ------------------------------------------------------------ becomes
def g(*args, **kwargs):
    return args, kwargs


def f(xs, options):
    return ag__.call(g)(0, *xs, *[2], a=3, **options, **{"z": ag__.call(g)(1)})
