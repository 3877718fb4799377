# A `raise` is seen by whoever traces.
# >>> f(2)
# >>> f(-1)
def f(n):
    if n < 0:
        raise ValueError("negative")
    return n * 2

# ------------------------------------------------------------ becomes
def f(n):
    def if_body():
        raise ag__.raise_(ValueError("negative"))
    ag__.if_stmt(n < 0, if_body)
    return n * 2
