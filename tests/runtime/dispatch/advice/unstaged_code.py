# python 3.11
# A function that takes only Python's own objects; a text of a number that a loop computes.
# >>> before(7, 20)
# >>> other(20)
# >>> after(7, 20)


def before(n, d):
    count = 0
    while d > 1:
        d //= 2
        count += 1
    return pow(3, d, n) + count


def other(n):
    i = 0
    while len(f"{(b := i * 3)}") < 2:
        i += 1
        if b > n:
            break
    return i


def after(n, d):
    count = 0
    while d > 1:
        d //= 2
        count += 1
    return 3**d % n + count

# ------------------------------------------------------------ becomes
# before:
#   advice: line 8: a function on this line takes only Python's own objects. Use operators and NumPy's functions
#     instead, or call it outside of this function
# other:
#   advice: line 18: `i * 3`, which is computed here, becomes part of a text. Make the text outside of this function
# after:
#   no advice
