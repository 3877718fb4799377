# Python has no annotations for names that are `nonlocal`, and evaluates none of a function's own.
# >>> as_float("1.5"), as_float("x")
def as_float(text):
    value: float
    if text[0].isdigit():
        value: float = float(text)
    else:
        value = -1.0
    return value

# ------------------------------------------------------------ becomes
def as_float(text):
    value: float

    def if_body():
        nonlocal value
        value = ag__.float_(text)

    def else_body():
        nonlocal value
        value = -1.0
    ag__.if_stmt(ag__.call(text[0].isdigit)(), if_body, else_body, ('value',))
    return value
