# python 3.11
# An argument that decides which object a variable is.
# >>> before(1); before(2); before(3); before(4)
# >>> after(1); after(2); after(3); after(4)


class Point:
    def __init__(self, x):
        self.x = x


class Corner(Point):
    pass


def before(n):
    point = Point(1)
    if n > 2:
        point = Corner(5)
    return point


def after(n):
    x = 1
    if n > 2:
        x = 5
    return Point(x)

# ------------------------------------------------------------ becomes
# before:
#   advice: line 18: each value of `n` is traced anew: `point` is an object of class Corner on one path (line 19)
#     and an object of class Point on the other. Choose between numbers on the paths, and make the object behind
#     them
# after:
#   no advice
