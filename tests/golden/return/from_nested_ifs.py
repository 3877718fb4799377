# Some paths return and some go on: those that return set a flag, and the rest is guarded.
# >>> [choose(a, b) for a in (0, 1) for b in (0, 1)]
def choose(a, b):
    if a > 0:
        if b > 0:
            return "both"
        a = -1
    b = a + b
    return b

# ------------------------------------------------------------ becomes
def choose(a, b):
    do_return = False
    retval_: ag__.unbound

    def if_body():
        nonlocal a, do_return, retval_

        def if_body():
            nonlocal do_return, retval_
            retval_ = "both"
            do_return = True

        def else_body():
            nonlocal a
            a = -1
        ag__.if_stmt(b > 0, if_body, else_body, ('a', 'do_return', 'retval_'))
    ag__.if_stmt(a > 0, if_body, None, ('a', 'do_return', 'retval_'))

    def if_body():
        return retval_

    def else_body():
        nonlocal b
        b = a + b
        return b
    return ag__.if_stmt(do_return, if_body, else_body)
