# Captures are assignments, guards are conditions.
# >>> [f(n) for n in (1, 5, -4, 100)]
def f(n):
    match n + 0:
        case 1 as one:
            out = "one", one
        case x if x < 0:
            out = "negative", x
        case y if y > 50:
            out = "large", y
        case other:
            out = "other", other
    return out

# ------------------------------------------------------------ becomes
def f(n):
    subject_ = n + 0
    out: ag__.unbound

    def if_body():
        nonlocal out
        one = subject_
        out = "one", one

    def else_body():
        nonlocal out
        x = subject_

        def if_body():
            nonlocal out
            out = "negative", x

        def else_body():
            nonlocal out
            y = subject_

            def if_body():
                nonlocal out
                out = "large", y

            def else_body():
                nonlocal out
                other = subject_
                out = "other", other
            ag__.if_stmt(y > 50, if_body, else_body, ('out',))
        ag__.if_stmt(x < 0, if_body, else_body, ('out',))
    ag__.if_stmt(subject_ == 1, if_body, else_body, ('out',))
    return out
