# What is indexed with a computed index is marked; literal indices stay.
# >>> f([1, 2, 3], 1)
def f(xs, i):
    return xs[i], xs[0], xs[-1], xs[1:], xs[i:], xs[:-1], xs[i + 1], {'k': xs}['k'][i]

# ------------------------------------------------------------ becomes
def f(xs, i):
    return ag__.ref(xs)[i], xs[0], xs[-1], xs[1:], ag__.ref(xs)[i:], xs[:-1], ag__.ref(xs)[i + 1], ag__.ref({'k': xs}['k'])[i]
