# They run where the function is defined, and may call what a backend must see.
# >>> f(lambda g: g, 3)
def f(decorate, n):
    @decorate
    def g(x=max(n, 2), *, y=abs(n)):
        return x + y
    return g()

# ------------------------------------------------------------ becomes
def f(decorate, n):
    @ag__.call(decorate)
    def g(x=ag__.max_(n, 2), *, y=abs(n)):
        return x + y
    return ag__.call(g)()
