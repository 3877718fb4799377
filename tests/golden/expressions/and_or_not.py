# Operands are deferred, because `and` and `or` may not need them.
# >>> f(1, 0, 3), f(0, 0, 0)
def f(a, b, c):
    return a and b, a or b and c, not a, not (a or c)

# ------------------------------------------------------------ becomes
def f(a, b, c):
    return ag__.and_(lambda: a, lambda: b), ag__.or_(lambda: a, lambda: ag__.and_(lambda: b, lambda: c)), ag__.not_(a), ag__.not_(ag__.or_(lambda: a, lambda: c, test=True))
