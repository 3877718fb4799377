# What is stored into is always marked.
# >>> f([1, 2, 3, 4], 1)
def f(xs, i):
    xs[0] = 5
    xs[i] += 1
    xs[i], xs[-1] = xs[-1], xs[i]
    xs[2:] = [7]
    del xs[i]
    return xs

# ------------------------------------------------------------ becomes
def f(xs, i):
    ag__.ref(xs)[0] = 5
    ag__.ref(xs)[i] += 1
    ag__.ref(xs)[i], ag__.ref(xs)[-1] = ag__.ref(xs)[-1], ag__.ref(xs)[i]
    ag__.ref(xs)[2:] = [7]
    del ag__.ref(xs)[i]
    return xs
