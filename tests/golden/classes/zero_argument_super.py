# `super()` looks at the function it stands in: an `if` around it stays.
# >>> Child().hello(1), Child().hello(0)
class Base:
    def hello(self, n):
        return ["base", n]


class Child(Base):
    def hello(self, n):
        out = super().hello(n)
        if n > 0:
            out += super(Child, self).hello(0)
        if n == 0:
            out += super().hello(9)
        return out

# ------------------------------------------------------------ becomes
class Base:
    def hello(self, n):
        return ["base", n]


class Child(Base):
    def hello(self, n):
        out = ag__.call(super().hello)(n)

        def if_body():
            nonlocal out
            out += ag__.call(super(Child, self).hello)(0)
        ag__.if_stmt(n > 0, if_body, None, ('out',))
        if n == 0:
            out += ag__.call(super().hello)(9)
        return out
