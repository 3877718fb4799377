# A module imported inside the function is a local name: nothing is known of it.
# >>> f(4)
def f(x):
    import math
    return math.sqrt(x)

# ------------------------------------------------------------ becomes
def f(x):
    import math
    return ag__.call(math.sqrt)(x)
