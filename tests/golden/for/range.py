# The target is the parameter of the body.
# >>> triangular(4)
def triangular(n):
    total = 0
    for i in range(n + 1):
        total += i
    return total

# ------------------------------------------------------------ becomes
def triangular(n):
    total = 0

    def loop_body(i):
        nonlocal total
        total += i
    ag__.for_stmt(ag__.range_(n + 1), loop_body, ('total',))
    return total
