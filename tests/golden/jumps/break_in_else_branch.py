# The jump may stand in either branch.
# >>> count([1, 1, 0, 1])
def count(bits):
    n = 0
    for bit in bits:
        if bit:
            n += 1
        else:
            break
    return n

# ------------------------------------------------------------ becomes
def count(bits):
    n = 0
    break_ = False

    def loop_body(bit):
        nonlocal n, break_

        def if_body():
            nonlocal n
            n += 1

        def else_body():
            nonlocal break_
            break_ = True
        ag__.if_stmt(bit, if_body, else_body, ('n', 'break_'))
    ag__.for_stmt(bits, loop_body, ('n', 'break_'), until=lambda: break_)
    return n
