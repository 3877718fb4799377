# Comments stay with what they stand beside.
# >>> f(1, [1, 2]), f(0, [])

# above the function
def f(n, xs):  # behind the header
    # first in the body
    total = 0  # behind a statement

    # above the if
    if n > 0:  # behind the if
        # first in the branch
        total += 1  # in the branch
        # last in the branch
    # above the else
    else:  # behind the else
        total -= 1

        # after a blank line

    # above the loop
    for x in xs:  # behind the loop
        # first in the loop

        total += x  # in the loop
        # last in the loop
    # above the return
    return total  # behind the return
    # last of all

# ------------------------------------------------------------ becomes

# above the function
def f(n, xs):  # behind the header
    # first in the body
    total = 0  # behind a statement

    # above the if
    # behind the if
    def if_body():
        nonlocal total
        # first in the branch
        total += 1  # in the branch
        # last in the branch

    def else_body():
        nonlocal total
        # above the else
        # behind the else
        total -= 1

        # after a blank line
    ag__.if_stmt(n > 0, if_body, else_body, ('total',))

    # above the loop
    # behind the loop
    def loop_body(x):
        nonlocal total
        # first in the loop

        total += x  # in the loop
        # last in the loop
    ag__.for_stmt(xs, loop_body, ('total',))
    # above the return
    return total  # behind the return
    # last of all
