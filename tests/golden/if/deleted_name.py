# `del` empties the cell: the name is unbound afterwards, as in Python.
# >>> drop(0)
# >>> drop(1)
def drop(n):
    x = n
    if n:
        del x
    return x

# ------------------------------------------------------------ becomes
def drop(n):
    x = n

    def if_body():
        nonlocal x
        del x
    ag__.if_stmt(n, if_body, None, ('x',))
    return x
