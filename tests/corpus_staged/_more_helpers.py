"""Functions that the corpus calls from a module that another one imports."""


def halve_until(x, limit):
    while x > limit:
        x /= 2
    return x
