# A name that only a branch binds is declared, unbound, where the user's function would have it. Reading it after the
# other path is Python's own UnboundLocalError.
# >>> halve(4)
# >>> halve(3)
def halve(n):
    if n % 2 == 0:
        half = n // 2
    return half

# ------------------------------------------------------------ becomes
def halve(n):
    half: ag__.unbound

    def if_body():
        nonlocal half
        half = n // 2
    ag__.if_stmt(n % 2 == 0, if_body, None, ('half',))
    return half
