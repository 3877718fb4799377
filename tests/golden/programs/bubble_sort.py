# Bubble sort, with an early exit.
# >>> bubble_sort([3, 1, 2])
def bubble_sort(xs):
    n = len(xs)
    while n > 1:
        swapped = False
        for i in range(n - 1):
            if xs[i] > xs[i + 1]:
                xs[i], xs[i + 1] = xs[i + 1], xs[i]
                swapped = True
        if not swapped:
            break
        n -= 1
    return xs

# ------------------------------------------------------------ becomes
def bubble_sort(xs):
    n = ag__.len_(xs)
    break_ = False

    def loop_test():
        return n > 1

    def loop_body():
        nonlocal n, break_
        swapped = False

        def loop_body(i):
            nonlocal swapped

            def if_body():
                nonlocal swapped
                ag__.ref(xs)[i], ag__.ref(xs)[i + 1] = ag__.ref(xs)[i + 1], ag__.ref(xs)[i]
                swapped = True
            ag__.if_stmt(ag__.ref(xs)[i] > ag__.ref(xs)[i + 1], if_body, None, ('swapped',))
        ag__.for_stmt(ag__.range_(n - 1), loop_body, ('swapped',))

        def if_body():
            nonlocal break_
            break_ = True

        def else_body():
            nonlocal n
            n -= 1
        ag__.if_stmt(ag__.not_(swapped), if_body, else_body, ('n', 'break_'))
    ag__.while_stmt(loop_test, loop_body, ('n', 'break_'), until=lambda: break_)
    return xs
