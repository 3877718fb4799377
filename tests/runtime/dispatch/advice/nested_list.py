# python 3.11
# A list of lists of mixed numbers.
# >>> before([[i, 1.5] * 10 for i in range(20)])
# >>> after(np.array([[i, 1.5] * 10 for i in range(20)]))


def before(best):
    n = len(best)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                best[i][j] = min(best[i][j], best[i][k] + best[k][j])
    return best


def after(best):
    n = len(best)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                best[i, j] = min(best[i, j], best[i, k] + best[k, j])
    return best

# ------------------------------------------------------------ becomes
# before:
#   advice: line 12: `best` is a list of lists of floats and ints. Make it a 2-D NumPy array, whose elements machine
#     code reads and sets
# after:
#   no advice
