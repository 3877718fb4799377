# An `elif` is an `if` in the `else`.
# >>> [grade(n) for n in (95, 85, 20)]
def grade(points):
    if points >= 90:
        mark = 'A'
    elif points >= 80:
        mark = 'B'
    else:
        mark = 'F'
    return mark

# ------------------------------------------------------------ becomes
def grade(points):
    mark: ag__.unbound

    def if_body():
        nonlocal mark
        mark = 'A'

    def else_body():
        nonlocal mark

        def if_body():
            nonlocal mark
            mark = 'B'

        def else_body():
            nonlocal mark
            mark = 'F'
        ag__.if_stmt(points >= 80, if_body, else_body, ('mark',))
    ag__.if_stmt(points >= 90, if_body, else_body, ('mark',))
    return mark
