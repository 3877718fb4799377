# A loop that always returns in its first turn.
# >>> first([7, 8]), first([])
def first(xs):
    for x in xs:
        return x
    return "empty"

# ------------------------------------------------------------ becomes
def first(xs):
    do_return = False
    retval_: ag__.unbound

    def loop_body(x):
        nonlocal do_return, retval_
        retval_ = x
        do_return = True
    ag__.for_stmt(xs, loop_body, ('do_return', 'retval_'), until=lambda: do_return)

    def if_body():
        return retval_

    def else_body():
        return "empty"
    return ag__.if_stmt(do_return, if_body, else_body)
