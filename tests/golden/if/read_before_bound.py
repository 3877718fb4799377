# A name that only a branch binds is the function's own all the same: it is not the global of that name.
# >>> f(0)
# >>> f(1)
x = "global"


def f(n):
    if n > 0:
        x = "own"
        print(x)
    else:
        print(x)

# ------------------------------------------------------------ becomes
x = "global"


def f(n):
    x: ag__.unbound

    def if_body():
        x = "own"
        ag__.print_(x)

    def else_body():
        ag__.print_(x)
    ag__.if_stmt(n > 0, if_body, else_body)
