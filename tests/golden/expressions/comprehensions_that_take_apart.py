# A lambda with a parameter for each name of the target.
# >>> f([[1, 2], (3, 4)], "ab")
# >>> f([[1]], "ab")
# >>> f([(1, 2, 3)], "")
# >>> f([5], "")
def f(pairs, text):
    swapped = {b: a for a, b in pairs if a > 1}
    places = [(i, c) for i, c in enumerate(text)]
    nested = [i * a + b for i, (a, b) in enumerate(pairs) if i if b]
    alone = list(x for [x] in zip(text))
    return swapped, places, nested, alone

# ------------------------------------------------------------ becomes
def f(pairs, text):
    swapped = ag__.dict_comp(pairs, lambda a, b: b, lambda a, b: a, lambda a, b: a > 1)
    places = ag__.list_comp(ag__.enumerate_(text), lambda i, c: (i, c))
    nested = ag__.list_comp(ag__.enumerate_(pairs), lambda i, a, b: i * a + b, lambda i, a, b: ag__.and_(lambda: i, lambda: b), target=(0, (1, 2)))
    alone = ag__.list_(ag__.gen_exp(ag__.zip_(text), lambda x: x, target=(0,)))
    return swapped, places, nested, alone
