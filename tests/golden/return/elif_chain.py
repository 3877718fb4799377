# Every branch returns.
# >>> [letter(n) for n in (3, 2, 1)]
def letter(n):
    if n > 2:
        return "a"
    elif n > 1:
        return "b"
    else:
        return "c"

# ------------------------------------------------------------ becomes
def letter(n):
    def if_body():
        return "a"

    def else_body():
        def if_body():
            return "b"

        def else_body():
            return "c"
        return ag__.if_stmt(n > 1, if_body, else_body)
    return ag__.if_stmt(n > 2, if_body, else_body)
