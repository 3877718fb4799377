# `finally` runs, whichever way the block is left.
# >>> guarded([], 1), guarded([], 0)
def guarded(log, n):
    try:
        if n > 0:
            return "early", log
        log.append("body")
    finally:
        log.append("finally")
    return "late", log

# ------------------------------------------------------------ becomes
def guarded(log, n):
    do_return = False
    try:
        retval_: ag__.unbound

        def if_body():
            nonlocal do_return, retval_
            retval_ = "early", log
            do_return = True

        def else_body():
            ag__.call(log.append)("body")
        ag__.if_stmt(n > 0, if_body, else_body, ('do_return', 'retval_'))
    finally:
        ag__.call(log.append)("finally")

    def if_body():
        return retval_

    def else_body():
        return "late", log
    return ag__.if_stmt(do_return, if_body, else_body)
