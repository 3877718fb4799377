# A target may be an attribute or an element.
# >>> scan([3, 4])
class Cursor:
    pass


def scan(xs):
    cursor, seen = Cursor(), {}
    for cursor.here in xs:
        print(cursor.here)
    for seen["last"] in xs:
        print(seen)
    return cursor.here, seen

# ------------------------------------------------------------ becomes
class Cursor:
    pass


def scan(xs):
    cursor, seen = ag__.call(Cursor)(), {}

    def loop_body(item):
        ag__.ref(cursor).here = item
        ag__.print_(cursor.here)
    ag__.for_stmt(xs, loop_body)

    def loop_body(item):
        ag__.ref(seen)["last"] = item
        ag__.print_(seen)
    ag__.for_stmt(xs, loop_body)
    return cursor.here, seen
