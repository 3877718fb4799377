# A class inside a function, with methods that close over it.
# >>> make(2)().scale(5), make(0)().scale(5)
def make(factor):
    if factor < 1:
        factor = 1

    class Scaler:
        k = factor

        def scale(self, x):
            if x > factor:
                return x * self.k
            return x
    return Scaler

# ------------------------------------------------------------ becomes
def make(factor):
    def if_body():
        nonlocal factor
        factor = 1
    ag__.if_stmt(factor < 1, if_body, None, ('factor',))

    class Scaler:
        k = factor

        def scale(self, x):
            def if_body():
                return x * self.k

            def else_body():
                return x
            return ag__.if_stmt(x > factor, if_body, else_body)
    return Scaler
