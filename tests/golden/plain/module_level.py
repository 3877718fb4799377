# Statements of modules and classes stay; only functions are converted.
# >>> f(2), NAMES, C.x
NAMES = []
for name in "ab":
    if name > "a":
        NAMES.append(name)

try:
    import ujson as json
except ImportError:
    import json


class C:
    x = 0
    while x < 3:
        x += 1

    if x > 2:
        def method(self):
            return 1 if self.x > 2 else 0


if len(NAMES) > 0:
    def f(n):
        return n if n > 1 else -n
else:
    f = lambda n: n and f(n - 1)

# ------------------------------------------------------------ becomes
NAMES = []
for name in "ab":
    if name > "a":
        NAMES.append(name)

try:
    import ujson as json
except ImportError:
    import json


class C:
    x = 0
    while x < 3:
        x += 1

    if x > 2:
        def method(self):
            return ag__.if_exp(self.x > 2, lambda: 1, lambda: 0)


if len(NAMES) > 0:
    def f(n):
        return ag__.if_exp(n > 1, lambda: n, lambda: -n)
else:
    f = lambda n: ag__.and_(lambda: n, lambda: ag__.call(f)(n - 1))
