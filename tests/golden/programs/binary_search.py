# Binary search.
# >>> search([1, 3, 5, 7, 9], 7), search([1, 3], 2)
def search(xs, x):
    low, high = 0, len(xs) - 1
    while low <= high:
        mid = (low + high) // 2
        if xs[mid] == x:
            return mid
        if xs[mid] < x:
            low = mid + 1
        else:
            high = mid - 1
    return -1

# ------------------------------------------------------------ becomes
def search(xs, x):
    low, high = 0, ag__.len_(xs) - 1
    do_return = False
    retval_: ag__.unbound

    def loop_test():
        return low <= high

    def loop_body():
        nonlocal low, high, do_return, retval_
        mid = (low + high) // 2

        def if_body():
            nonlocal do_return, retval_
            retval_ = mid
            do_return = True

        def else_body():
            nonlocal low, high

            def if_body():
                nonlocal low
                low = mid + 1

            def else_body():
                nonlocal high
                high = mid - 1
            ag__.if_stmt(ag__.ref(xs)[mid] < x, if_body, else_body, ('low', 'high'))
        ag__.if_stmt(ag__.ref(xs)[mid] == x, if_body, else_body, ('low', 'high', 'do_return', 'retval_'))
    ag__.while_stmt(loop_test, loop_body, ('low', 'high', 'do_return', 'retval_'), until=lambda: do_return)

    def if_body():
        return retval_

    def else_body():
        return -1
    return ag__.if_stmt(do_return, if_body, else_body)
