# The same with `break`: the flag also guards the rest of the turn.
# >>> f([1, 5, 8, 9])
def f(xs):
    out = []
    for x in xs:
        if x > 3:
            if x > 7:
                break
            x = -x
        out.append(x)
    return out

# ------------------------------------------------------------ becomes
def f(xs):
    out = []
    break_ = False

    def loop_body(x):
        nonlocal break_

        def if_body():
            nonlocal break_, x

            def if_body():
                nonlocal break_
                break_ = True

            def else_body():
                nonlocal x
                x = -x
            ag__.if_stmt(x > 7, if_body, else_body, ('break_', 'x'))
        ag__.if_stmt(x > 3, if_body, None, ('break_', 'x'))

        def if_body():
            ag__.call(out.append)(x)
        ag__.if_stmt(ag__.not_(break_), if_body)
    ag__.for_stmt(xs, loop_body, ('break_',), until=lambda: break_)
    return out
