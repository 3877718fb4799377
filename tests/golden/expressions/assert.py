# An assertion defers its condition and its message.
# >>> f(1)
# >>> f(0)
# >>> f(-1)
def f(n):
    assert n >= 0, f"negative: {n}"
    assert n
    return n

# ------------------------------------------------------------ becomes
def f(n):
    ag__.assert_stmt(lambda: n >= 0, lambda: ag__.fstring(lambda: f"negative: {n}"))
    ag__.assert_stmt(lambda: n)
    return n
