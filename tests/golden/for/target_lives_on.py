# A target that is read after the loop is assigned like any other name.
# >>> last([1, 2])
# >>> last([])
def last(xs):
    for x in xs:
        pass
    return x

# ------------------------------------------------------------ becomes
def last(xs):
    x: ag__.unbound

    def loop_body(item):
        nonlocal x
        x = item
        pass
    ag__.for_stmt(xs, loop_body, ('x',))
    return x
