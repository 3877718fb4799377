"""The workload of running.py that is all control flow: nested loops with an `if`."""


def steps(count):
    """The steps that the Collatz sequences of the first `count` numbers take, all together."""
    total = 0
    for start in range(1, count):
        n = start
        while n != 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
            total += 1
    return total
