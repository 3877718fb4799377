# `:=` in an operand would bind a name of the lambda instead: the operation stays.
# >>> f([3, 4]), f([])
def f(xs):
    if xs and (n := len(xs)) > 1:
        return n
    return [y := 1, y + 1], (z := 2) or z

# ------------------------------------------------------------ becomes
def f(xs):
    def if_body():
        return n

    def else_body():
        return [y := 1, y + 1], (z := 2) or z
    return ag__.if_stmt(xs and (n := ag__.len_(xs)) > 1, if_body, else_body)
