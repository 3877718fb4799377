# Line breaks inside parentheses stay, also where something in them is converted.
# >>> f([1, 2, 3], 1)
def f(xs, n):
    total = sum(
        xs,            # all of them
        start=(
            n
            + 1
        ),
    )
    if (
        total > 3
        and n > 0      # and this
    ):
        total = max(
            total,
            len(xs),
        )
    message = (
        "a long "
        f"text {total} "
        "in parts"
    )
    return message, \
        total

# ------------------------------------------------------------ becomes
def f(xs, n):
    total = ag__.sum_(
        xs,            # all of them
        start=(
            n
            + 1
        ),
    )

    def if_body():
        nonlocal total
        total = ag__.max_(
            total,
            ag__.len_(xs),
        )
    # and this
    ag__.if_stmt(ag__.and_(lambda: total > 3,
                           lambda: n > 0), if_body, None, ('total',))
    message = (
        ag__.fstring(lambda: "a long "
        f"text {total} "
        "in parts")
    )
    return message, \
        total
