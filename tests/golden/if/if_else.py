# Both branches become functions, which share the names that they set and that live on.
# >>> sign(-3), sign(0), sign(2)
def sign(x):
    if x < 0:
        s = -1
    else:
        s = 1
    return s

# ------------------------------------------------------------ becomes
def sign(x):
    s: ag__.unbound

    def if_body():
        nonlocal s
        s = -1

    def else_body():
        nonlocal s
        s = 1
    ag__.if_stmt(x < 0, if_body, else_body, ('s',))
    return s
