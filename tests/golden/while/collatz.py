# The example of the design.
# >>> collatz(6), collatz(1)
def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps

# ------------------------------------------------------------ becomes
def collatz(n):
    steps = 0

    def loop_test():
        return n != 1

    def loop_body():
        nonlocal n, steps

        def if_body():
            nonlocal n
            n = n // 2

        def else_body():
            nonlocal n
            n = 3 * n + 1
        ag__.if_stmt(n % 2 == 0, if_body, else_body, ('n',))
        steps += 1
    ag__.while_stmt(loop_test, loop_body, ('n', 'steps'))
    return steps
