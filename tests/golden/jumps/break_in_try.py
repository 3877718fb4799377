# Out of `try` and its handlers.
# >>> parse(["1", "x", "2", "end", "3"])
def parse(words):
    numbers, errors = [], 0
    for word in words:
        try:
            if word == "end":
                break
            numbers.append(int(word))
        except ValueError:
            errors += 1
            continue
        print(word)
    return numbers, errors

# ------------------------------------------------------------ becomes
def parse(words):
    numbers, errors = [], 0
    break_ = False

    def loop_body(word):
        nonlocal errors, break_
        try:
            if word == "end":
                break_ = True
                return
            ag__.call(numbers.append)(ag__.int_(word))
        except ValueError:
            errors += 1
            return
        ag__.print_(word)
    ag__.for_stmt(words, loop_body, ('errors', 'break_'), until=lambda: break_)
    return numbers, errors
