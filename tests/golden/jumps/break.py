# `break` sets a flag that the loop asks for after each turn; what follows it runs in the other branch.
# >>> before([1, 2, -1, 3])
def before(xs):
    out = []
    for x in xs:
        if x < 0:
            break
        out.append(x)
    return out

# ------------------------------------------------------------ becomes
def before(xs):
    out = []
    break_ = False

    def loop_body(x):
        nonlocal break_

        def if_body():
            nonlocal break_
            break_ = True

        def else_body():
            ag__.call(out.append)(x)
        ag__.if_stmt(x < 0, if_body, else_body, ('break_',))
    ag__.for_stmt(xs, loop_body, ('break_',), until=lambda: break_)
    return out
