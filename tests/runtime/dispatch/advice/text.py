# python 3.11
# A text that is made in a loop.
# >>> before(9)
# >>> after(np.zeros(9))


def before(n):
    text = ""
    for i in range(n):
        text += str(i)
    return text


def after(values):
    for i in range(len(values)):
        values[i] = 2 * i
    return values

# ------------------------------------------------------------ becomes
# before:
#   advice: line 10: this loop works on strings: this is a string. Handle strings in a loop of their own, and
#     numbers in this one
# after:
#   no advice
