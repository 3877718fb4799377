# python 3.11
# Strings in a loop.
# >>> before(['sum', 'set', 'map'] * 9)
# >>> after(np.array([ord(word[0]) for word in ['sum', 'set', 'map'] * 9]))


def before(words):
    count = 0
    for word in words:
        if word.encode(encoding="ascii")[0] == 115:
            count += 1
    return count


def after(initials):
    count = 0
    for initial in initials:
        if initial == 115:
            count += 1
    return count

# ------------------------------------------------------------ becomes
# before:
#   advice: line 10: this loop works on strings: `words` is a list of strings. Handle strings in a loop of their
#     own, and numbers in this one
# after:
#   no advice
