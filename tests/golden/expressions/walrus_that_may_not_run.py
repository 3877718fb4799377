# A name that `:=` binds only on some ways keeps its value on the others.
# >>> f(1, 0), f(1, 1), f(-1, 0)
def f(n, m):
    c = "before"
    if n > 0:
        assert n, (c := "never")
        m and (c := "and")
        print(c)
    else:
        d = (c := "if") if m else 0
    return c

# ------------------------------------------------------------ becomes
def f(n, m):
    c = "before"

    def if_body():
        nonlocal c
        assert n, (c := "never")
        m and (c := "and")
        ag__.print_(c)

    def else_body():
        nonlocal c
        d = (c := "if") if m else 0
    ag__.if_stmt(n > 0, if_body, else_body, ('c',))
    return c
