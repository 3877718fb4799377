# Every block of a `try`, with state that goes through.
# >>> f("4"), f("x"), f("0")
def f(text):
    state = "start"
    try:
        n = int(text)
        if n > 1:
            state = "big"
    except ValueError as error:
        if state == state:
            state = str(error)
    else:
        if n == 0:
            state = "zero"
    finally:
        if len(text) > 0:
            state += "!"
    return state

# ------------------------------------------------------------ becomes
def f(text):
    state = "start"
    try:
        n = ag__.int_(text)

        def if_body():
            nonlocal state
            state = "big"
        ag__.if_stmt(n > 1, if_body, None, ('state',))
    except ValueError as error:
        def if_body():
            nonlocal state
            state = ag__.str_(error)
        ag__.if_stmt(state == state, if_body, None, ('state',))
    else:
        def if_body():
            nonlocal state
            state = "zero"
        ag__.if_stmt(n == 0, if_body, None, ('state',))
    finally:
        def if_body():
            nonlocal state
            state += "!"
        ag__.if_stmt(ag__.len_(text) > 0, if_body, None, ('state',))
    return state
