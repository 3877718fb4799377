# python 3.11
# Integers that grow beyond 64 bits.
# >>> before(200)
# >>> after(200)
def before(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


def after(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, (a + b) % 1_000_007
    return a

# ------------------------------------------------------------ becomes
# before:
#   advice: line 7: the integers of this loop grow beyond 64 bits. Use floats, or take them `% n` in each iteration
# after:
#   no advice
