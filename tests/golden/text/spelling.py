# Literals, quotes and parentheses are spelt as the user spelt them.
# >>> f(1)
def f(n):
    'single quotes'
    a = 0xFF + 1_000 + 1e3 + 0o17 + 0b11 + 10j.imag
    b = "double" 'single' r'\raw' u"u"
    b += b"bytes".decode()
    c = ((n)) + (1)
    if (n) > (0x0):
        c = (c + 0x10) * (n)
    else:
        c = 'it\'s', "it's", '''three''', """three"""
    return a, b, c, (n if ((n > 0)) else (0x1)), [1,2 , 3], {'a':1}

# ------------------------------------------------------------ becomes
def f(n):
    'single quotes'
    a = 0xFF + 1_000 + 1e3 + 0o17 + 0b11 + 10j.imag
    b = "double" 'single' r'\raw' u"u"
    b += b"bytes".decode()
    c = ((n)) + (1)

    def if_body():
        nonlocal c
        c = (c + 0x10) * (n)

    def else_body():
        nonlocal c
        c = 'it\'s', "it's", '''three''', """three"""
    ag__.if_stmt((n) > (0x0), if_body, else_body, ('c',))
    return a, b, c, ag__.if_exp(n > 0, lambda: n, lambda: 0x1), [1,2 , 3], {'a':1}
