# What a turn sets first and nobody reads later belongs to the turn; `last` is read after the loop.
# >>> halves(8)
# >>> halves(0)
def halves(n):
    while n > 1:
        half = n // 2
        last = n
        n = half
    return last

# ------------------------------------------------------------ becomes
def halves(n):
    last: ag__.unbound

    def loop_test():
        return n > 1

    def loop_body():
        nonlocal n, last
        half = n // 2
        last = n
        n = half
    ag__.while_stmt(loop_test, loop_body, ('n', 'last'))
    return last
