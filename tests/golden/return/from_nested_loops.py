# From the inner of two loops: the flag ends both.
# >>> pair([1, 2, 3], 5), pair([1, 2], 9)
def pair(xs, total):
    for x in xs:
        for y in xs:
            if x + y == total:
                return x, y
        print("not with", x)
    return ()

# ------------------------------------------------------------ becomes
def pair(xs, total):
    do_return = False
    retval_: ag__.unbound

    def loop_body(x):
        nonlocal do_return, retval_

        def loop_body(y):
            nonlocal do_return, retval_

            def if_body():
                nonlocal do_return, retval_
                retval_ = x, y
                do_return = True
            ag__.if_stmt(x + y == total, if_body, None, ('do_return', 'retval_'))
        ag__.for_stmt(xs, loop_body, ('do_return', 'retval_'), until=lambda: do_return)

        def if_body():
            ag__.print_("not with", x)
        ag__.if_stmt(ag__.not_(do_return), if_body)
    ag__.for_stmt(xs, loop_body, ('do_return', 'retval_'), until=lambda: do_return)

    def if_body():
        return retval_

    def else_body():
        return ()
    return ag__.if_stmt(do_return, if_body, else_body)
