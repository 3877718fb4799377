# The user's own names come first.
# >>> f([1, 2], 2, 0)
def f(xs, break_, do_return):
    retval_ = if_body = loop_body = 0
    for x in xs:
        if x == break_:
            return x, retval_
        if x < do_return:
            break
    return if_body, loop_body

# ------------------------------------------------------------ becomes
def f(xs, break_, do_return):
    retval_ = if_body = loop_body = 0
    do_return_1 = False
    break_1 = False
    retval_1: ag__.unbound

    def loop_body_1(x):
        nonlocal do_return_1, break_1, retval_1

        def if_body_1():
            nonlocal do_return_1, retval_1
            retval_1 = x, retval_
            do_return_1 = True

        def else_body():
            nonlocal break_1

            def if_body_1():
                nonlocal break_1
                break_1 = True
            ag__.if_stmt(x < do_return, if_body_1, None, ('break_1',))
        ag__.if_stmt(x == break_, if_body_1, else_body, ('do_return_1', 'break_1', 'retval_1'))
    ag__.for_stmt(xs, loop_body_1, ('do_return_1', 'break_1', 'retval_1'), until=lambda: ag__.or_(lambda: do_return_1, lambda: break_1))

    def if_body_1():
        return retval_1

    def else_body():
        return if_body, loop_body
    return ag__.if_stmt(do_return_1, if_body_1, else_body)
