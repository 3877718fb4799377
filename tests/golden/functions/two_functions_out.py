# A body passes on what a function inside it changes in a function further out.
# >>> f(1), f(0)
def f(flag):
    count = 1

    def g():
        if flag > 0:
            def h():
                nonlocal count
                count += 1
            h()
        return "g"
    return g(), count

# ------------------------------------------------------------ becomes
def f(flag):
    count = 1

    def g():
        def if_body():
            nonlocal count
            def h():
                nonlocal count
                count += 1
            ag__.call(h)()
        ag__.if_stmt(flag > 0, if_body, None, ('count',))
        return "g"
    return ag__.call(g)(), count
