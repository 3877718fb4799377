# Decorators and signatures keep their lines.
# >>> f(1)
def both(first, second):
    return lambda f: f


@both(
    1,      # one
    second=lambda: 2,
)
# between
@both(3, 4)
def f(
    a,          # the first
    b=(
        1 + 1
    ),
    *,
    c=None,     # by name
):
    if a > 0:
        a = b
    return a, c

# ------------------------------------------------------------ becomes
def both(first, second):
    return lambda f: f


@both(
    1,      # one
    second=lambda: 2,
)
# between
@both(3, 4)
def f(
    a,          # the first
    b=(
        1 + 1
    ),
    *,
    c=None,     # by name
):
    def if_body():
        nonlocal a
        a = b
    ag__.if_stmt(a > 0, if_body, None, ('a',))
    return a, c
