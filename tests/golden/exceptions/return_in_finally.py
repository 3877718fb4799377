# A `finally` that always returns drops exceptions, whichever branch it takes: a backend must be ready for that.
# >>> f(1)
# >>> f(0)
# >>> g(2)
# >>> g(0)
# >>> g("a")
def f(x):
    try:
        return 1 / x
    finally:
        if x > 0:
            return "yes"
        return "no"

def g(x):
    try:
        return 1 / x
    finally:
        if x == 0:
            return "zero"
        elif x > 1:
            return "many"
        else:
            return "one"

# ------------------------------------------------------------ becomes
def f(x):
    try:
        return 1 / x
    finally:
        def if_body():
            return "yes"

        def else_body():
            return "no"
        return ag__.if_stmt(x > 0, if_body, else_body, drops=True)

def g(x):
    try:
        return 1 / x
    finally:
        def if_body():
            return "zero"

        def else_body():
            def if_body():
                return "many"

            def else_body():
                return "one"
            return ag__.if_stmt(x > 1, if_body, else_body, drops=True)
        return ag__.if_stmt(x == 0, if_body, else_body, drops=True)
