# `locals()` and friends see the function's own names: what is around them stays, and all names are state.
# >>> f(1), f(0)
def f(n):
    x = 0
    if n > 0:
        x = 1
        y = 2
    if n > 0:
        print(sorted(locals()))
    while n > 0:
        n = eval("n - 1")
    return x

# ------------------------------------------------------------ becomes
def f(n):
    x = 0
    if n > 0:
        x = 1
        y = 2
    if n > 0:
        ag__.print_(ag__.sorted_(locals()))
    while n > 0:
        n = eval("n - 1")
    return x
