# Attributes are marked where they are set, not where they are read.
# >>> f().__dict__
class Point:
    pass


def f():
    p = Point()
    p.x = p.y = 1
    p.x += p.y
    p.z = p
    p.z.w = 2
    del p.y, p.z
    return p

# ------------------------------------------------------------ becomes
class Point:
    pass


def f():
    p = ag__.call(Point)()
    ag__.ref(p).x = ag__.ref(p).y = 1
    ag__.ref(p).x += p.y
    ag__.ref(p).z = p
    ag__.ref(p.z).w = 2
    del ag__.ref(p).y, ag__.ref(p).z
    return p
