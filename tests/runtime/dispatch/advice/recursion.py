# python 3.11
# A function that calls itself.
# >>> before(9)
# >>> after(9)
def before(n):
    return n if n < 2 else before(n - 1) + before(n - 2)


def after(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a

# ------------------------------------------------------------ becomes
# before:
#   advice: line 6: `before` calls itself, and is traced for each depth. Write it as a loop, with a list as its
#     stack
# after:
#   no advice
