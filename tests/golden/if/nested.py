# Three deep: every body shares what the one around it shares.
# >>> [step(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)]
def step(a, b, c):
    n = 0
    if a > 0:
        n += 1
        if b > 0:
            n += 10
            if c > 0:
                n += 100
            else:
                n -= 100
        else:
            n -= 10
    return n

# ------------------------------------------------------------ becomes
def step(a, b, c):
    n = 0

    def if_body():
        nonlocal n
        n += 1

        def if_body():
            nonlocal n
            n += 10

            def if_body():
                nonlocal n
                n += 100

            def else_body():
                nonlocal n
                n -= 100
            ag__.if_stmt(c > 0, if_body, else_body, ('n',))

        def else_body():
            nonlocal n
            n -= 10
        ag__.if_stmt(b > 0, if_body, else_body, ('n',))
    ag__.if_stmt(a > 0, if_body, None, ('n',))
    return n
