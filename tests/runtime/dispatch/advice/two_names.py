# python 3.11
# A dict that is changed, and reachable under two names.
# >>> before(3)
# >>> after(3, {})
KNOWN = {}


def remembered(n, known=KNOWN):
    known[n] = n * n
    return len(KNOWN)


def before(n):
    return remembered(n)


def after(n, known):
    known[n] = n * n
    return len(known)

# ------------------------------------------------------------ becomes
# before:
#   advice: line 13: a dict that is changed here is reachable under two names. Change it under one name, or make a
#     copy first
# after:
#   no advice
