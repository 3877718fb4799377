# Functions, classes and imports bind names like any assignment.
# >>> sort_key(1)(-2), sort_key(0)(-2)
def sort_key(absolute):
    if absolute:
        def key(x):
            return abs(x)
    else:
        from operator import neg as key
    return key

# ------------------------------------------------------------ becomes
def sort_key(absolute):
    key: ag__.unbound

    def if_body():
        nonlocal key
        def key(x):
            return abs(x)

    def else_body():
        nonlocal key
        from operator import neg as key
    ag__.if_stmt(absolute, if_body, else_body, ('key',))
    return key
