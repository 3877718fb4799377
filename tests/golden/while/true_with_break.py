# An endless loop with a `break` in the middle.
# >>> newton(2.0)
def newton(a):
    x = a
    while True:
        y = (x + a / x) / 2
        if abs(y - x) < 1e-9:
            break
        x = y
    return round(x, 6)

# ------------------------------------------------------------ becomes
def newton(a):
    x = a
    break_ = False

    def loop_test():
        return True

    def loop_body():
        nonlocal x, break_
        y = (x + a / x) / 2

        def if_body():
            nonlocal break_
            break_ = True

        def else_body():
            nonlocal x
            x = y
        ag__.if_stmt(abs(y - x) < 1e-9, if_body, else_body, ('x', 'break_'))
    ag__.while_stmt(loop_test, loop_body, ('x', 'break_'), until=lambda: break_)
    return round(x, 6)
