# Objects, exceptions and several ways out.
# >>> a, b = Account(10), Account(0); transfer(a, b, 4), transfer(a, b, 99), a.balance, b.balance
class Overdrawn(Exception):
    pass


class Account:
    def __init__(self, balance):
        self.balance = balance

    def withdraw(self, amount):
        if amount > self.balance:
            raise Overdrawn(amount - self.balance)
        self.balance -= amount


def transfer(source, target, amount):
    if amount <= 0 or source is target:
        return False
    try:
        source.withdraw(amount)
    except Overdrawn as missing:
        return f"{missing} too little"
    else:
        target.balance += amount
    return True

# ------------------------------------------------------------ becomes
class Overdrawn(Exception):
    pass


class Account:
    def __init__(self, balance):
        ag__.ref(self).balance = balance

    def withdraw(self, amount):
        def if_body():
            raise ag__.raise_(ag__.call(Overdrawn)(amount - self.balance))
        ag__.if_stmt(amount > self.balance, if_body)
        ag__.ref(self).balance -= amount


def transfer(source, target, amount):
    def if_body():
        return False

    def else_body():
        try:
            ag__.call(source.withdraw)(amount)
        except Overdrawn as missing:
            return ag__.fstring(lambda: f"{missing} too little")
        else:
            ag__.ref(target).balance += amount
        return True
    return ag__.if_stmt(ag__.or_(lambda: amount <= 0, lambda: ag__.is_(source, target)), if_body, else_body)
