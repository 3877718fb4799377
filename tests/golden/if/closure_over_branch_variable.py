# What an inner function captures lives for ever: it shares the cell with the branches.
# >>> late(1), late(0)
def late(flag):
    x = "before"

    def get():
        return x
    if flag > 0:
        x = "after"
    return get()

# ------------------------------------------------------------ becomes
def late(flag):
    x = "before"

    def get():
        return x

    def if_body():
        nonlocal x
        x = "after"
    ag__.if_stmt(flag > 0, if_body, None, ('x',))
    return ag__.call(get)()
