# An iterable written without parentheses.
# >>> chain([1], [2, 3])
def chain(a, b):
    out = []
    for x in *a, *b, 0:
        out.append(x)
    return out

# ------------------------------------------------------------ becomes
def chain(a, b):
    out = []

    def loop_body(x):
        ag__.call(out.append)(x)
    ag__.for_stmt((*a, *b, 0), loop_body)
    return out
