# python 3.11
# Numbers that are compared by identity.
# >>> before(30)
# >>> after(30)
def before(n):
    count, last = 0, 7
    for i in range(n):
        if last is i:
            count += 1
        last = i * 1
    return count


def after(n):
    count, last = 0, 7
    for i in range(n):
        if last == i:
            count += 1
        last = i * 1
    return count

# ------------------------------------------------------------ becomes
# before:
#   advice: line 7: numbers are compared by `is`. Compare them by `==`, so that the loop can become machine code
# after:
#   no advice
