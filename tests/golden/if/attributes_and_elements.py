# Objects are changed in place, marked by `ag__.ref`; they are no state.
# >>> bump(Box(), 1).n, bump(Box(), -1).n
class Box:
    n = 0


def bump(box, by):
    if by > 0:
        box.n += by
    else:
        box.n = 99
    return box

# ------------------------------------------------------------ becomes
class Box:
    n = 0


def bump(box, by):
    def if_body():
        ag__.ref(box).n += by

    def else_body():
        ag__.ref(box).n = 99
    ag__.if_stmt(by > 0, if_body, else_body)
    return box
