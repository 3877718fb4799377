# `map` of a lambda, if the call around it takes the items.
# >>> f([3, 1, 2])
def f(xs):
    kept = map(lambda x: x, xs)
    return list(map(lambda x: x + 1, xs)), sum(map(lambda x, y: x, xs, xs)), sorted(map(int, xs)), next(kept)

# ------------------------------------------------------------ becomes
def f(xs):
    kept = ag__.map_(lambda x: x, xs)
    return ag__.list_(ag__.mapped(lambda x: x + 1, xs)), ag__.sum_(ag__.map_(lambda x, y: x, xs, xs)), ag__.sorted_(ag__.map_(int, xs)), ag__.next_(kept)
