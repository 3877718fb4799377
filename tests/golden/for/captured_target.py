# An inner function captures the loop's variable: all turns share one, as in Python.
# >>> [f() for f in make([1, 2, 3])]
def make(xs):
    functions = []
    for x in xs:
        functions.append(lambda: x)
    return functions

# ------------------------------------------------------------ becomes
def make(xs):
    functions = []
    x: ag__.unbound

    def loop_body(item):
        nonlocal x
        x = item
        ag__.call(functions.append)(lambda: x)
    ag__.for_stmt(xs, loop_body, ('x',))
    return functions
