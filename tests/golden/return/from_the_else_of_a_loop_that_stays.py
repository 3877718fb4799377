# The `else` of a loop that stays runs behind it, in the function itself.
# >>> f(None, 0), f(1, 1), f(1, 2)
def f(a, b):
    while a is None:
        a = 0
    else:
        if b:
            if b > 1:
                return "early"
            b = "late"
        a = b
    return a, b

# ------------------------------------------------------------ becomes
def f(a, b):
    do_return = False
    while a is None:
        a = 0
    else:
        retval_: ag__.unbound

        def if_body():
            nonlocal b, do_return, retval_

            def if_body():
                nonlocal do_return, retval_
                retval_ = "early"
                do_return = True

            def else_body():
                nonlocal b
                b = "late"
            ag__.if_stmt(b > 1, if_body, else_body, ('b', 'do_return', 'retval_'))
        ag__.if_stmt(b, if_body, None, ('b', 'do_return', 'retval_'))

        def if_body():
            nonlocal a
            a = b
        ag__.if_stmt(ag__.not_(do_return), if_body, None, ('a',))

    def if_body():
        return retval_

    def else_body():
        return a, b
    return ag__.if_stmt(do_return, if_body, else_body)
