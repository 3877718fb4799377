# Without an `else`, None stands for it.
# >>> clip(12), clip(3)
def clip(x):
    if x > 10:
        x = 10
    return x

# ------------------------------------------------------------ becomes
def clip(x):
    def if_body():
        nonlocal x
        x = 10
    ag__.if_stmt(x > 10, if_body, None, ('x',))
    return x
