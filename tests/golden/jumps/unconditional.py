# A jump that always happens.
# >>> f(3)
def f(n):
    while n > 0:
        n -= 1
        continue
    for x in range(n, 9):
        break
    return n, x

# ------------------------------------------------------------ becomes
def f(n):
    def loop_test():
        return n > 0

    def loop_body():
        nonlocal n
        n -= 1
    ag__.while_stmt(loop_test, loop_body, ('n',))
    break_ = False
    x: ag__.unbound

    def loop_body(item):
        nonlocal break_, x
        x = item
        break_ = True
    ag__.for_stmt(ag__.range_(n, 9), loop_body, ('break_', 'x'), until=lambda: break_)
    return n, x
