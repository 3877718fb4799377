# python 3.11
# A function that runs as plain Python for a rare reason.
# >>> before(9)
# >>> after(9)


class Node:
    def __init__(self, x):
        self.x = x
        self.next = self


def before(n):
    return Node(n * 2)


def after(n):
    return n * 2

# ------------------------------------------------------------ becomes
# before:
#   advice: line 13: an object of class Node, which is made here, holds itself, and is kept. Move this line out of
#     the function, and the rest of it can be staged
# after:
#   no advice
