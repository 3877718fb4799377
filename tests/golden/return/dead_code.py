# What can never run stays where it is.
# >>> f(1), f(-1)
def f(x):
    if x > 0:
        return 1
    else:
        raise ValueError(x)
    print("never")

# ------------------------------------------------------------ becomes
def f(x):
    def if_body():
        return 1

    def else_body():
        raise ag__.raise_(ValueError(x))
    return ag__.if_stmt(x > 0, if_body, else_body)
    ag__.print_("never")
