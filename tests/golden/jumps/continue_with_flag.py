# Where some ways through a branch go on and others do not, `continue` needs its flag.
# >>> f([1, 5, 8, 9])
def f(xs):
    out = []
    for x in xs:
        if x > 3:
            if x > 7:
                continue
            x = -x
        out.append(x)
    return out

# ------------------------------------------------------------ becomes
def f(xs):
    out = []

    def loop_body(x):
        continue_ = False

        def if_body():
            nonlocal x, continue_

            def if_body():
                nonlocal continue_
                continue_ = True

            def else_body():
                nonlocal x
                x = -x
            ag__.if_stmt(x > 7, if_body, else_body, ('x', 'continue_'))
        ag__.if_stmt(x > 3, if_body, None, ('x', 'continue_'))

        def if_body():
            ag__.call(out.append)(x)
        ag__.if_stmt(ag__.not_(continue_), if_body)
    ag__.for_stmt(xs, loop_body)
    return out
