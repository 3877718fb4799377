# python 3.11
# A function inside another one that calls itself by keywords, and one of the module.
# >>> before(9)
# >>> after(9)
def before(n):
    def fibonacci(k):
        return k if k < 2 else fibonacci(k=k - 1) + fibonacci(k=k - 2)

    return fibonacci(n)


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def after(n):
    return fibonacci(n)

# ------------------------------------------------------------ becomes
# before:
#   advice: line 7: `fibonacci` calls itself, and is traced for each depth. Decorate the one that recurses with
#     ag.function, and not its caller; or write it as a loop
# after:
#   no advice
