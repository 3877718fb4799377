# python 3.11
# A function that calls itself, in a staged one.
# >>> before(9)
# >>> after(9)
def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def before(n):
    return fibonacci(n)


def after(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a

# ------------------------------------------------------------ becomes
# before:
#   advice: line 6: `fibonacci` calls itself, and is traced for each depth. Decorate the one that recurses with
#     ag.function, and not its caller; or write it as a loop
# after:
#   no advice
