# python 3.11
# An engine without machine code; the first function has a loop.
# >>> before(9)
# >>> after(9)


def before(n):
    total = 0
    for i in range(n):
        total += i
    return total


def after(n):
    return n * (n - 1) // 2

# ------------------------------------------------------------ becomes
# before:
#   advice: `engine=` keeps the loops of this function in Python. Leave it out, and loops can become machine code
# after:
#   no advice
