# One in the other, with several conditions.
# >>> f(5)
def f(n):
    return [[i * j for j in range(i) if j if j != 2] for i in range(n) if i > 1]

# ------------------------------------------------------------ becomes
def f(n):
    return ag__.list_comp(ag__.range_(n), lambda i: ag__.list_comp(ag__.range_(i), lambda j: i * j, lambda j: ag__.and_(lambda: j, lambda: j != 2)), lambda i: i > 1)
