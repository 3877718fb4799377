# The same from a `for`; falling off the end returns None.
# >>> index([3, 4], 4), index([], 4)
def index(xs, x):
    for i, y in enumerate(xs):
        if y == x:
            return i

# ------------------------------------------------------------ becomes
def index(xs, x):
    do_return = False
    retval_: ag__.unbound

    def loop_body(item):
        nonlocal do_return, retval_
        i, y = item

        def if_body():
            nonlocal do_return, retval_
            retval_ = i
            do_return = True
        ag__.if_stmt(y == x, if_body, None, ('do_return', 'retval_'))
    ag__.for_stmt(ag__.enumerate_(xs), loop_body, ('do_return', 'retval_'), until=lambda: do_return)

    def if_body():
        return retval_
    return ag__.if_stmt(do_return, if_body)
