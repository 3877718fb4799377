# Two ways out of one loop.
# >>> f([1, 2]), f([0]), f([-1])
def f(xs):
    while xs:
        x = xs.pop()
        if x == 0:
            break
        if x < 0:
            return "negative"
    return "ok"

# ------------------------------------------------------------ becomes
def f(xs):
    do_return = False
    break_ = False
    retval_: ag__.unbound

    def loop_test():
        return xs

    def loop_body():
        nonlocal do_return, break_, retval_
        x = ag__.call(xs.pop)()

        def if_body():
            nonlocal break_
            break_ = True

        def else_body():
            nonlocal do_return, retval_

            def if_body():
                nonlocal do_return, retval_
                retval_ = "negative"
                do_return = True
            ag__.if_stmt(x < 0, if_body, None, ('do_return', 'retval_'))
        ag__.if_stmt(x == 0, if_body, else_body, ('do_return', 'break_', 'retval_'))
    ag__.while_stmt(loop_test, loop_body, ('do_return', 'break_', 'retval_'), until=lambda: ag__.or_(lambda: break_, lambda: do_return))

    def if_body():
        return retval_

    def else_body():
        return "ok"
    return ag__.if_stmt(do_return, if_body, else_body)
