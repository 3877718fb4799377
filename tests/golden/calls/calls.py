# What is called goes through `ag__.call`, so that it is converted when its turn comes.
# >>> twice(len, "ab"), apply([3, 1])
def twice(f, x):
    return f(x), f(x)


def apply(xs):
    ys = xs.copy()
    ys.sort(reverse=True)
    return twice(max, xs), (lambda: ys)(), ys

# ------------------------------------------------------------ becomes
def twice(f, x):
    return ag__.call(f)(x), ag__.call(f)(x)


def apply(xs):
    ys = ag__.call(xs.copy)()
    ag__.call(ys.sort)(reverse=True)
    return ag__.call(twice)(max, xs), ag__.call(lambda: ys)(), ys
