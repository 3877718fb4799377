# However deep, and with a star.
# >>> rows([(1, (2, 3, 4)), (5, (6,))])
def rows(items):
    found = []
    for n, (head, *tail) in items:
        found.append((n, head, tail))
    return found

# ------------------------------------------------------------ becomes
def rows(items):
    found = []

    def loop_body(item):
        n, (head, *tail) = item
        ag__.call(found.append)((n, head, tail))
    ag__.for_stmt(items, loop_body)
    return found
