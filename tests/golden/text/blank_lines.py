# Blank lines stay; none is doubled.
# >>> f([1, 2])
def f(xs):

    total = 0


    for x in xs:

        if x > 1:

            total += x


        else:

            total -= x

        total += 1

    return total

# ------------------------------------------------------------ becomes
def f(xs):

    total = 0


    def loop_body(x):
        nonlocal total

        def if_body():
            nonlocal total

            total += x

        def else_body():
            nonlocal total

            total -= x
        ag__.if_stmt(x > 1, if_body, else_body, ('total',))

        total += 1
    ag__.for_stmt(xs, loop_body, ('total',))

    return total
