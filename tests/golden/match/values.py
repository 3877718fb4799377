# Patterns that compare the whole subject become `if`s.
# >>> [f(n) for n in (0, 1, 2, -1, 9)]
class Codes:
    MINUS = -1


def f(n):
    match n:
        case 0:
            return "zero"
        case 1 | 2:
            return "some"
        case Codes.MINUS:
            return "minus"
        case _:
            return "other"

# ------------------------------------------------------------ becomes
class Codes:
    MINUS = -1


def f(n):
    def if_body():
        return "zero"

    def else_body():
        def if_body():
            return "some"

        def else_body():
            def if_body():
                return "minus"

            def else_body():
                return "other"
            return ag__.if_stmt(n == Codes.MINUS, if_body, else_body)
        return ag__.if_stmt(ag__.or_(lambda: n == 1, lambda: n == 2), if_body, else_body)
    return ag__.if_stmt(n == 0, if_body, else_body)
