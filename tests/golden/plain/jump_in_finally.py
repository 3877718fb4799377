# A jump out of `finally` drops the exception: it must happen where it stands.
# >>> f([1, 0, 2])
def f(xs):
    out = []
    for x in xs:
        try:
            out.append(1 / x)
        finally:
            if x == 0:
                return out
            print(x)

# ------------------------------------------------------------ becomes
def f(xs):
    out = []
    for x in xs:
        try:
            ag__.call(out.append)(1 / x)
        finally:
            if x == 0:
                return out
            ag__.print_(x)
