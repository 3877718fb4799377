# A target may be assigned in the body: it is a parameter.
# >>> clipped([1, 20, 3])
def clipped(xs):
    out = []
    for x in xs:
        if x > 10:
            x = 10
        out.append(x)
    return out

# ------------------------------------------------------------ becomes
def clipped(xs):
    out = []

    def loop_body(x):
        def if_body():
            nonlocal x
            x = 10
        ag__.if_stmt(x > 10, if_body, None, ('x',))
        ag__.call(out.append)(x)
    ag__.for_stmt(xs, loop_body)
    return out
