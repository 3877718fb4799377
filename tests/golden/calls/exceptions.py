# Making an exception needs no conversion.
# >>> f(0)
# >>> f(1)
class MyError(Exception):
    pass


def f(n):
    if n == 0:
        raise MyError("zero") from None
    raise ValueError(f"not {n}")

# ------------------------------------------------------------ becomes
class MyError(Exception):
    pass


def f(n):
    def if_body():
        raise ag__.raise_(MyError("zero")) from None
    ag__.if_stmt(n == 0, if_body)
    raise ag__.raise_(ValueError(ag__.fstring(lambda: f"not {n}")))
