# Patterns that take the subject apart never compare anything staged; the cases' blocks are converted.
# >>> f([1, 2]), f([-1, 2]), f({"k": 3}), f("x")
def f(message):
    match message:
        case [x, y]:
            if x > 0:
                return x + y
            return "minus"
        case {"k": value, **rest}:
            return value, rest
        case str() as text:
            return text

# ------------------------------------------------------------ becomes
def f(message):
    match message:
        case [x, y]:
            def if_body():
                return x + y

            def else_body():
                return "minus"
            return ag__.if_stmt(x > 0, if_body, else_body)
        case {"k": value, **rest}:
            return value, rest
        case str() as text:
            return text
