# Comments beside `break`, `continue`, `return`, `raise`, `pass` and declarations.
# >>> f([3, 0]), f([0, 2]), f([0])
# >>> f([])
count = 0


def f(xs):
    # what happens
    for x in xs:  # each of them
        if x == 0:  # nothing
            # go on
            continue  # to the next
        # small ones end it
        if x < 3:
            global count  # see above
            count += 1  # one more
            break  # out of here

        return x  # the first
    # nothing was found
    else:
        pass  # never mind
    if not xs:
        # no xs
        raise ValueError("empty")  # so it is
    # so much for that
    return -count  # at last

# ------------------------------------------------------------ becomes
count = 0


def f(xs):
    global count  # see above
    # what happens
    # each of them
    do_return = False
    break_ = False
    retval_: ag__.unbound

    def loop_body(x):
        global count
        nonlocal do_return, break_, retval_

        # nothing
        def if_body():
            # go on
            pass  # to the next

        def else_body():
            global count
            nonlocal do_return, break_, retval_

            # small ones end it
            def if_body():
                global count
                nonlocal break_
                count += 1  # one more
                break_ = True  # out of here

            def else_body():
                nonlocal do_return, retval_

                retval_ = x
                do_return = True  # the first
            ag__.if_stmt(x < 3, if_body, else_body, ('do_return', 'break_', 'count', 'retval_'))
        ag__.if_stmt(x == 0, if_body, else_body, ('do_return', 'break_', 'count', 'retval_'))
    ag__.for_stmt(xs, loop_body, ('do_return', 'break_', 'count', 'retval_'), until=lambda: ag__.or_(lambda: break_, lambda: do_return))  # each of them

    def if_body():
        return retval_

    def else_body():
        def if_body():
            # nothing was found
            pass  # never mind
        ag__.if_stmt(ag__.not_(break_), if_body)

        def if_body():
            # no xs
            raise ag__.raise_(ValueError("empty"))  # so it is
        ag__.if_stmt(ag__.not_(xs), if_body)
        # so much for that
        return -count  # at last
    return ag__.if_stmt(do_return, if_body, else_body)
