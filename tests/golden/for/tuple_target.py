# A target that takes elements apart is assigned in the body.
# >>> flip({"a": 1, "b": 2})
def flip(table):
    flipped = {}
    for key, value in table.items():
        flipped[value] = key
    return flipped

# ------------------------------------------------------------ becomes
def flip(table):
    flipped = {}

    def loop_body(item):
        key, value = item
        ag__.ref(flipped)[value] = key
    ag__.for_stmt(ag__.call(table.items)(), loop_body)
    return flipped
