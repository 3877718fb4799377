# A function that catches UnboundLocalError itself relies on where names are bound: it stays.
# >>> f(1), f(0)
def f(n):
    if n > 0:
        x = n
    try:
        return x
    except UnboundLocalError:
        return "unbound"

# ------------------------------------------------------------ becomes
def f(n):
    if n > 0:
        x = n
    try:
        return x
    except UnboundLocalError:
        return "unbound"
