# The same for a name set in the body.
# >>> [f() for f in squares(3)]
def squares(n):
    functions = []
    for i in range(n):
        square = i * i

        def get():
            return square
        functions.append(get)
    return functions

# ------------------------------------------------------------ becomes
def squares(n):
    functions = []
    square: ag__.unbound

    def loop_body(i):
        nonlocal square
        square = i * i

        def get():
            return square
        ag__.call(functions.append)(get)
    ag__.for_stmt(ag__.range_(n), loop_body, ('square',))
    return functions
