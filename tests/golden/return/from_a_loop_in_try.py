# A loop inside `try`: the exception handler and the return value keep apart.
# >>> lookup([{}, {"a": 1}], "a"), lookup([{}], "a"), lookup(None, "a")
def lookup(tables, key):
    try:
        for table in tables:
            if key in table:
                return table[key]
    except TypeError:
        return "no tables"
    return "missing"

# ------------------------------------------------------------ becomes
def lookup(tables, key):
    do_return = False
    try:
        retval_: ag__.unbound

        def loop_body(table):
            nonlocal do_return, retval_

            def if_body():
                nonlocal do_return, retval_
                retval_ = ag__.ref(table)[key]
                do_return = True
            ag__.if_stmt(ag__.in_(key, table), if_body, None, ('do_return', 'retval_'))
        ag__.for_stmt(tables, loop_body, ('do_return', 'retval_'), until=lambda: do_return)
    except TypeError:
        return "no tables"

    def if_body():
        return retval_

    def else_body():
        return "missing"
    return ag__.if_stmt(do_return, if_body, else_body)
