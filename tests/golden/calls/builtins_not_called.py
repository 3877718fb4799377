# Builtins in other roles stay what they are; forms that they do not have are left to Python.
# >>> f([2, 1])
def f(xs):
    types = {int: "int", str: "str"}
    return [*map(float, xs)], types[int], int("11", 2), int(), sorted(xs, key=len.__eq__) and len

# ------------------------------------------------------------ becomes
def f(xs):
    types = {int: "int", str: "str"}
    return [*ag__.map_(float, xs)], ag__.ref(types)[int], int("11", 2), int(), ag__.and_(lambda: ag__.sorted_(xs, key=len.__eq__), lambda: len)
