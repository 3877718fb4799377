# An early exit: the rest of the function moves into the `else`.
# >>> inverse(0), inverse(4)
def inverse(x):
    if x == 0:
        return 0.0
    y = 1 / x
    return y

# ------------------------------------------------------------ becomes
def inverse(x):
    def if_body():
        return 0.0

    def else_body():
        y = 1 / x
        return y
    return ag__.if_stmt(x == 0, if_body, else_body)
