# Methods are functions; decorators and class variables stay.
# >>> c = Counter(); c.add(2); c.add(-1); c.n, c.big, Counter.of(3).n
class Counter:
    """Counts up."""

    limit = 1 if True else 2
    names: list[str] = [n for n in ("a", "b") if n]

    def __init__(self, n=0):
        self.n = n

    def add(self, k):
        if k > 0:
            self.n += k

    @property
    def big(self):
        return self.n > self.limit and self.n

    @classmethod
    def of(cls, n):
        return cls(n)

# ------------------------------------------------------------ becomes
class Counter:
    """Counts up."""

    limit = 1 if True else 2
    names: list[str] = [n for n in ("a", "b") if n]

    def __init__(self, n=0):
        ag__.ref(self).n = n

    def add(self, k):
        def if_body():
            ag__.ref(self).n += k
        ag__.if_stmt(k > 0, if_body)

    @property
    def big(self):
        return ag__.and_(lambda: self.n > self.limit, lambda: self.n)

    @classmethod
    def of(cls, n):
        return ag__.call(cls)(n)
