# `continue` needs no flag where the rest of the body can move into the other branch.
# >>> odd([1, 2, 3])
def odd(xs):
    out = []
    for x in xs:
        if x % 2 == 0:
            continue
        out.append(x)
    return out

# ------------------------------------------------------------ becomes
def odd(xs):
    out = []

    def loop_body(x):
        def if_body():
            pass

        def else_body():
            ag__.call(out.append)(x)
        ag__.if_stmt(x % 2 == 0, if_body, else_body)
    ag__.for_stmt(xs, loop_body)
    return out
