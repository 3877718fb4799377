# Functions in functions, each with its own state.
# >>> outer(3)
def outer(n):
    total = 0

    def inner(k):
        nonlocal total
        count = 0
        while k > 0:
            count += 1
            total += k
            k -= 1
        return count

    for i in range(n):
        inner(i)
    return total

# ------------------------------------------------------------ becomes
def outer(n):
    total = 0

    def inner(k):
        nonlocal total
        count = 0

        def loop_test():
            return k > 0

        def loop_body():
            nonlocal k, count, total
            count += 1
            total += k
            k -= 1
        ag__.while_stmt(loop_test, loop_body, ('k', 'count', 'total'))
        return count

    def loop_body(i):
        nonlocal total
        ag__.call(inner)(i)
    ag__.for_stmt(ag__.range_(n), loop_body, ('total',))
    return total
