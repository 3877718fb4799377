# Blocks on their header's line, and several statements on a line.
# >>> f(1), f(-1), g(3)
def f(n):
    a = 1; b = 2
    if n > 0: a = n; b = 3
    else: a = -n
    while a < 5: a += 1
    for i in range(3): b += i; print(b)
    return a, b


def g(n): return n if n > 2 else -n

# ------------------------------------------------------------ becomes
def f(n):
    a = 1; b = 2

    def if_body():
        nonlocal a, b
        a = n; b = 3

    def else_body():
        nonlocal a
        a = -n
    ag__.if_stmt(n > 0, if_body, else_body, ('a', 'b'))

    def loop_test():
        return a < 5

    def loop_body():
        nonlocal a
        a += 1
    ag__.while_stmt(loop_test, loop_body, ('a',))

    def loop_body(i):
        nonlocal b
        b += i; ag__.print_(b)
    ag__.for_stmt(ag__.range_(3), loop_body, ('b',))
    return a, b


def g(n): return ag__.if_exp(n > 2, lambda: n, lambda: -n)
