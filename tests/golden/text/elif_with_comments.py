# Comments around `elif`, `except` and `finally`.
# >>> f(1), f(2), f("x")
def f(n):
    # before
    if n == 1:  # one
        m = 'one'
    # two?
    elif n == 2:  # two
        m = 'two'
    # anything
    else:
        # else
        m = '?'
    try:  # to
        m += 1
    # wrong
    except TypeError:  # of course
        # never mind
        if n == 2: m += '!'
    # always
    finally:
        # done
        m = m, n
    return m

# ------------------------------------------------------------ becomes
def f(n):
    # before
    # one
    def if_body():
        nonlocal m
        m = 'one'

    def else_body():
        nonlocal m

        # two?
        # two
        def if_body():
            nonlocal m
            m = 'two'

        def else_body():
            nonlocal m
            # anything
            # else
            m = '?'
        ag__.if_stmt(n == 2, if_body, else_body, ('m',))
    ag__.if_stmt(n == 1, if_body, else_body, ('m',))
    try:  # to
        m += 1
    except TypeError:
        # wrong
        # of course
        # never mind
        def if_body():
            nonlocal m
            m += '!'
        ag__.if_stmt(n == 2, if_body, None, ('m',))
    # always
    finally:
        # done
        m = m, n
    return m
