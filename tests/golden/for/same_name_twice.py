# The same names in two loops, one behind the other and one in the other.
# >>> twice([1, 2])
def twice(xs):
    out = []
    for x in xs:
        out.append(x)
    for x in xs:
        for x in [x, -x]:
            out.append(x)
    return out

# ------------------------------------------------------------ becomes
def twice(xs):
    out = []

    def loop_body(x):
        ag__.call(out.append)(x)
    ag__.for_stmt(xs, loop_body)

    def loop_body(x):
        def loop_body(x):
            ag__.call(out.append)(x)
        ag__.for_stmt([x, -x], loop_body)
    ag__.for_stmt(xs, loop_body)
    return out
