# `yield` belongs to its function: statements around it stay, expressions and other statements are converted.
# >>> list(evens([1, 2, 3, 4]))
def evens(xs):
    limit = 3
    if len(xs) > 3:
        limit = 4
    for x in xs:
        if x % 2 == 0 and x <= limit:
            yield x
    return limit

# ------------------------------------------------------------ becomes
def evens(xs):
    limit = 3

    def if_body():
        nonlocal limit
        limit = 4
    ag__.if_stmt(ag__.len_(xs) > 3, if_body, None, ('limit',))
    for x in xs:
        if ag__.and_(lambda: x % 2 == 0, lambda: x <= limit):
            yield x
    return limit
