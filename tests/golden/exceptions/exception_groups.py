# python 3.11
# `except*` is like `except`.
# >>> f(1), f(0)
def f(n):
    found = []
    try:
        if n > 0:
            raise ExceptionGroup("g", [ValueError(1), TypeError(2)])
    except* ValueError as group:
        for error in group.exceptions:
            found.append(str(error))
    except* TypeError:
        found.append("type")
    return found

# ------------------------------------------------------------ becomes
def f(n):
    found = []
    try:
        def if_body():
            raise ag__.raise_(ExceptionGroup("g", [ValueError(1), TypeError(2)]))
        ag__.if_stmt(n > 0, if_body)
    except* ValueError as group:
        def loop_body(error):
            ag__.call(found.append)(ag__.str_(error))
        ag__.for_stmt(group.exceptions, loop_body)
    except* TypeError:
        ag__.call(found.append)("type")
    return found
