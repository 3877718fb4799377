# So is a name of the function around.
# >>> [counter() for counter in [make()] for _ in range(3)]
def make():
    count = 0

    def step():
        nonlocal count
        if count < 2:
            count += 1
        return count
    return step

# ------------------------------------------------------------ becomes
def make():
    count = 0

    def step():
        nonlocal count

        def if_body():
            nonlocal count
            count += 1
        ag__.if_stmt(count < 2, if_body, None, ('count',))
        return count
    return step
