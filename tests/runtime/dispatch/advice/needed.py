# python 3.11
# A value that Python itself needs; a text that is made of it.
# >>> before([3, 5] * 9)
# >>> other([3, 5] * 9)
# >>> after([3, 5] * 9)


def before(xs):
    total = 0
    for x in xs:
        total += {3: 1, 5: 2}.setdefault(x, 7) + len(f"{x:{x}}")
    return total


def other(xs):
    total = 0
    for x in xs:
        total += next(i for i in range(9) if i * i > x)
    return total


def after(xs):
    total = 0
    for x in xs:
        total += x
    return total

# ------------------------------------------------------------ becomes
# before:
#   advice: line 11: machine code calls Python for `f"{x:{x}}"`. Move it out of the loop, or compute it in the loop
#     with numbers and elements of arrays
# other:
#   advice: line 18: an iterator or generator goes on where it was left before. Make a list of its items first
# after:
#   no advice
