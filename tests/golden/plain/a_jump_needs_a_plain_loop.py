# A `break` out of a loop that stays needs its `if` to stay, too; the inner `if` is converted.
# >>> list(take([1, 2, 3, 4]))
def take(xs):
    for x in xs:
        if x > 1:
            x = -x
        if x < -2:
            break
        yield x

# ------------------------------------------------------------ becomes
def take(xs):
    for x in xs:
        def if_body():
            nonlocal x
            x = -x
        ag__.if_stmt(x > 1, if_body, None, ('x',))
        if x < -2:
            break
        yield x
