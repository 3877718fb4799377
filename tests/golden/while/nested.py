# Three deep.
# >>> triangle(3)
def triangle(n):
    count = 0
    i = 0
    while i < n:
        j = 0
        while j <= i:
            k = 0
            while k <= j:
                count += 1
                k += 1
            j += 1
        i += 1
    return count

# ------------------------------------------------------------ becomes
def triangle(n):
    count = 0
    i = 0

    def loop_test():
        return i < n

    def loop_body():
        nonlocal count, i
        j = 0

        def loop_test():
            return j <= i

        def loop_body():
            nonlocal count, j
            k = 0

            def loop_test():
                return k <= j

            def loop_body():
                nonlocal count, k
                count += 1
                k += 1
            ag__.while_stmt(loop_test, loop_body, ('count', 'k'))
            j += 1
        ag__.while_stmt(loop_test, loop_body, ('count', 'j'))
        i += 1
    ag__.while_stmt(loop_test, loop_body, ('count', 'i'))
    return count
