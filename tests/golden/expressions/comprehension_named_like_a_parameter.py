# A comprehension's variable is its own, also where it bears the name of another one.
# >>> f(5, [(1, 2)]), f(6, [])
def f(x, rows):
    if len(rows) > 0:
        ys = [x for x, *_ in rows]
        zs = [(lambda: x)() for x in ys]
        for i in range(2):
            print(x + i, ys, zs)
    return x

# ------------------------------------------------------------ becomes
def f(x, rows):
    def if_body():
        ys = [x_1 for x_1, *_ in rows]
        zs = [ag__.call(lambda: x_2)() for x_2 in ys]

        def loop_body(i):
            ag__.print_(x + i, ys, zs)
        ag__.for_stmt(ag__.range_(2), loop_body)
    ag__.if_stmt(ag__.len_(rows) > 0, if_body)
    return x
