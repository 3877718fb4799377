"""`except*` and exception groups (Python 3.11)."""

from tests.corpus import calls


@calls("[ValueError(1), KeyError('k')]", "[ValueError(1)]", "[TypeError('t'), KeyError('k')]")
def except_star(errors):
    try:
        raise ExceptionGroup("many", errors)
    except* ValueError as group:
        print("values", group.exceptions)
    except* KeyError as group:
        for e in group.exceptions:
            if e.args:
                print("key", e.args)
    else:
        print("never")
    finally:
        print("finally")
    return "handled"


@calls("0", "1", "2")
def except_star_in_loop(n):
    out = []
    for i in range(3):
        try:
            if i == n:
                raise ValueError(i)
            out.append(i)
        except* ValueError as group:
            out.append([str(e) for e in group.exceptions])
        else:
            if i == 1:
                continue
        out.append("end")
    return out


@calls("1", "0")
def nested_groups(n):
    inner = ExceptionGroup("inner", [OSError(1), ValueError(2)])
    try:
        if n:
            raise ExceptionGroup("outer", [inner, KeyError(3)])
        raise inner
    except* OSError:
        while n:
            n -= 1
            print("os error")


@calls("1, []", "1, [2]", "0, [2]")
def raised_in_a_handler_of_groups(n, xs):
    try:
        raise ExceptionGroup("two", [ValueError(n), KeyError(n)])
    except* ValueError:
        xs.pop()
        if n > 0:
            raise IndexError(n)
    except* KeyError as group:
        print(group.exceptions)
    return xs


@calls("2")
def split_and_notes(n):
    group = ExceptionGroup("g", [ValueError(i) if i % 2 else KeyError(i) for i in range(n + 1)])
    matching, rest = group.split(ValueError)
    for e in rest.exceptions:
        e.add_note(f"note {e.args[0]}")
        if e.args[0]:
            raise e
    return matching


@calls("1", "0")
def return_around_except_star(n):
    try:
        if n:
            raise TypeError
        return "from try"
    except* TypeError:
        x = "handled"
    finally:
        print("finally")
    return x
