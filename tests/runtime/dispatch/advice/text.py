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
#   advice: line 10: `text += str(i)` has no machine code. Move it out of the loop, or compute it in the loop with
#     numbers and elements of arrays
# after:
#   no advice
