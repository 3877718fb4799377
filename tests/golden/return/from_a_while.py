# A `return` in a loop sets `do_return`, which ends the loop, and leaves its value in `retval_`.
# >>> root(16), root(17)
def root(n):
    i = 0
    while i * i <= n:
        if i * i == n:
            return i
        i += 1
    return None

# ------------------------------------------------------------ becomes
def root(n):
    i = 0
    do_return = False
    retval_: ag__.unbound

    def loop_test():
        return i * i <= n

    def loop_body():
        nonlocal i, do_return, retval_

        def if_body():
            nonlocal do_return, retval_
            retval_ = i
            do_return = True

        def else_body():
            nonlocal i
            i += 1
        ag__.if_stmt(i * i == n, if_body, else_body, ('i', 'do_return', 'retval_'))
    ag__.while_stmt(loop_test, loop_body, ('i', 'do_return', 'retval_'), until=lambda: do_return)

    def if_body():
        return retval_

    def else_body():
        return None
    return ag__.if_stmt(do_return, if_body, else_body)
