# Only one of many branches returns; what follows moves behind those that fall through.
# >>> [f(n) for n in (1, 2, 3)]
def f(n):
    if n == 1:
        s = "one"
    elif n == 2:
        return "two!"
    else:
        s = "many"
    s += "."
    return s

# ------------------------------------------------------------ becomes
def f(n):
    do_return = False
    s: ag__.unbound
    retval_: ag__.unbound

    def if_body():
        nonlocal s
        s = "one"

    def else_body():
        nonlocal do_return, s, retval_

        def if_body():
            nonlocal do_return, retval_
            retval_ = "two!"
            do_return = True

        def else_body():
            nonlocal s
            s = "many"
        ag__.if_stmt(n == 2, if_body, else_body, ('do_return', 's', 'retval_'))
    ag__.if_stmt(n == 1, if_body, else_body, ('do_return', 's', 'retval_'))

    def if_body():
        return retval_

    def else_body():
        nonlocal s
        s += "."
        return s
    return ag__.if_stmt(do_return, if_body, else_body)
