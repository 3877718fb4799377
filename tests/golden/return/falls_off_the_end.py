# One path returns a value, the other falls off the end and returns None.
# >>> find(2), find(0)
def find(n):
    if n > 1:
        return n

# ------------------------------------------------------------ becomes
def find(n):
    def if_body():
        return n
    return ag__.if_stmt(n > 1, if_body)
