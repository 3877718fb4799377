# What follows the `if` cannot move into a branch, so the `if` stays.
# >>> list(f(0)), list(f(2))
def f(n):
    if n == 0:
        return
    if n > 1:
        n = 1
    yield n

# ------------------------------------------------------------ becomes
def f(n):
    if n == 0:
        return

    def if_body():
        nonlocal n
        n = 1
    ag__.if_stmt(n > 1, if_body, None, ('n',))
    yield n
