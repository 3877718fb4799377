# python 3.11
# A list of objects; a generator of random numbers.
# >>> before([Point(1.5), Point(2.5)] * 9)
# >>> after(np.array([1.5, 2.5] * 9))
# >>> draws(np.random.default_rng(0), 200)
# >>> draws_before(np.random.default_rng(0).beta(1, 2, 200))


class Point:
    def __init__(self, x):
        self.x = x

    def __float__(self):
        return self.x


def before(points):
    total = 0.0
    for point in points:
        total += float(point)
    return total


def after(xs):
    total = 0.0
    for x in xs:
        total += x
    return total


def draws(rng, n):
    total = 0.0
    for i in range(n):
        total += rng.beta(1, 2) * i
    return total


def draws_before(numbers):
    total = 0.0
    for i in range(len(numbers)):
        total += numbers[i] * i
    return total

# ------------------------------------------------------------ becomes
# before:
#   advice: line 20: `points` is a list of Point objects. Read what the loop needs of it into local variables or
#     arrays before the loop
# after:
#   no advice
# draws:
#   advice: line 34: `rng` is a generator of random numbers, of a distribution that has no machine code. Draw the
#     numbers before the loop, into an array
# draws_before:
#   no advice
