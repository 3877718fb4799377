# python 3.11
# An argument that decides which object a variable is.
# >>> before(1); before(2); before(3); before(4)
# >>> after(1); after(2); after(3); after(4)


class Point:
    def __init__(self, x):
        self.x = x


def before(n):
    point = Point(1)
    if n > 2:
        point = Point(5)
    return point


def after(n):
    x = 1
    if n > 2:
        x = 5
    return Point(x)

# ------------------------------------------------------------ becomes
# before:
#   advice: line 14: each value of `n` is traced anew: `point` is an object of class Point on one path (line 15) and
#     another one on the other. Choose between numbers on the paths, and make the object behind them
# after:
#   no advice
