# The Mandelbrot set, on NumPy's scalars.
# >>> picture(3)
import numpy as np


def escape(c, limit=20):
    z = np.complex128(0)
    for n in range(limit):
        if abs(z) > 2:
            return n
        z = z * z + c
    return limit


def picture(n):
    rows = np.zeros((n, n), dtype=int)
    for i, y in enumerate(np.linspace(-1, 1, n)):
        for j, x in enumerate(np.linspace(-2, 1, n)):
            rows[i, j] = escape(complex(x, y))
    return rows.tolist()

# ------------------------------------------------------------ becomes
import numpy as np


def escape(c, limit=20):
    z = ag__.call(np.complex128)(0)
    do_return = False
    retval_: ag__.unbound

    def loop_body(n):
        nonlocal z, do_return, retval_

        def if_body():
            nonlocal do_return, retval_
            retval_ = n
            do_return = True

        def else_body():
            nonlocal z
            z = z * z + c
        ag__.if_stmt(abs(z) > 2, if_body, else_body, ('z', 'do_return', 'retval_'))
    ag__.for_stmt(ag__.range_(limit), loop_body, ('z', 'do_return', 'retval_'), until=lambda: do_return)

    def if_body():
        return retval_

    def else_body():
        return limit
    return ag__.if_stmt(do_return, if_body, else_body)


def picture(n):
    rows = ag__.call(np.zeros)((n, n), dtype=int)

    def loop_body(item):
        i, y = item

        def loop_body(item):
            j, x = item
            ag__.ref(rows)[i, j] = ag__.call(escape)(ag__.complex_(x, y))
        ag__.for_stmt(ag__.enumerate_(ag__.call(np.linspace)(-2, 1, n)), loop_body)
    ag__.for_stmt(ag__.enumerate_(ag__.call(np.linspace)(-1, 1, n)), loop_body)
    return ag__.call(rows.tolist)()
