# The `else` of a loop without `break` simply follows it.
# >>> down(3)
def down(n):
    while n > 0:
        n -= 1
    else:
        n = "done"
    return n

# ------------------------------------------------------------ becomes
def down(n):
    def loop_test():
        return n > 0

    def loop_body():
        nonlocal n
        n -= 1
    ag__.while_stmt(loop_test, loop_body, ('n',))
    n = "done"
    return n
