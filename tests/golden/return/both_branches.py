# Where both branches return, so does the call that stands for them.
# >>> absolute(-2), absolute(3)
def absolute(x):
    if x < 0:
        return -x
    else:
        return x

# ------------------------------------------------------------ becomes
def absolute(x):
    def if_body():
        return -x

    def else_body():
        return x
    return ag__.if_stmt(x < 0, if_body, else_body)
