"""`break`, `continue`, `return`, loop `else`: leaving code from anywhere in it."""

from tests.corpus import calls


@calls("[1, 2, 3], 2", "[1, 2, 3], 5", "[], 1")
def find(xs, wanted):
    for i, x in enumerate(xs):
        if x == wanted:
            return i
    return -1


@calls("[1, 2, 3], 2", "[1, 2, 3], 5", "[], 1")
def find_with_else(xs, wanted):
    for i, x in enumerate(xs):
        if x == wanted:
            break
    else:
        i = None
    return i


@calls("10", "1", "0", "-1")
def while_else(n):
    while n > 0:
        n -= 3
        if n == 4:
            break
        print(n)
    else:
        print("else")
        return "exhausted"
    return "broke", n


@calls("[1, -1, 2]", "[]", "[-1]")
def only_continue(xs):
    out = []
    for x in xs:
        if x < 0:
            continue
        out.append(x)
    return out


@calls("10")
def continue_and_break(n):
    out = []
    i = 0
    while True:
        i += 1
        if i % 2:
            continue
        if i > n:
            break
        if i % 3 == 0:
            print("three")
            continue
        out.append(i)
    return out, i


@calls("4", "0", "1")
def break_in_nested_with_else(n):
    out = []
    for i in range(n):
        for j in range(n):
            if i * j == 2:
                break
            if j > i:
                continue
            out.append((i, j))
        else:
            out.append(("inner else", i))
            continue
        out.append(("inner broke", i))
        if i == 2:
            break
    else:
        out.append("outer else")
    return out


@calls("30", "3")
def break_out_of_two(n):
    found = None
    for a in range(1, n):
        for b in range(a, n):
            if a * a + b * b == 25 * 25:
                found = a, b
                break
        if found:
            break
    return found, a, b


@calls("5", "2", "0")
def return_from_nested(n):
    for i in range(n):
        for j in range(n):
            while j < n:
                if i + j == 5:
                    return i, j
                j += 1
        else:
            if i == 3:
                return "else", i, j
    return None


@calls("3", "0")
def return_in_loop_else(n):
    while n:
        n -= 1
    else:
        return "else"


@calls("3", "0")
def break_in_loop_else_of_inner(n):
    out = []
    for i in range(n + 1):
        for j in range(i):
            if j == 5:
                break
        else:
            if i == 2:
                break
        out.append(i)
    return out


@calls("3", "-1", "0")
def return_none_or_value(n):
    if n > 0:
        return
    if n < 0:
        return n


@calls("1", "2", "3", "4")
def early_returns_nested(n):
    if n > 1:
        if n > 2:
            if n > 3:
                return "four"
            x = 3
        else:
            return "two"
        x += 10
    else:
        x = 1
    return x


@calls("0", "1", "2")
def return_then_shared_tail(n):
    x = 10
    if n == 0:
        x = 20
        if x:
            return "zero"
    elif n == 1:
        x = 30
    print("tail", x)
    return x


@calls("[1, 2, 3, 4]", "[2]", "[]")
def continue_as_last(xs):
    for x in xs:
        if x % 2:
            print("odd")
            continue
        else:
            print("even")
            continue
    return "done"


@calls("[1, 2, 3]", "[]")
def break_at_once(xs):
    for x in xs:
        break
    else:
        x = "empty"
    return x


@calls("3", "0")
def while_true_break_first(n):
    while True:
        if not n:
            break
        n -= 1
    return n


@calls("3")
def loop_runs_once_by_return(n):
    for i in range(n):
        return i
    return "never"


@calls("[3, 4]", "[0, 1]", "[]")
def jump_in_elif(xs):
    out = []
    for x in xs:
        if x == 0:
            out.append("zero")
        elif x == 3:
            continue
        elif x == 4:
            break
        else:
            out.append(x)
        out.append("end")
    return out


@calls("6")
def flags_of_two_loops(n):
    a = b = 0
    for i in range(n):
        if i == 4:
            break
        for j in range(n):
            if j == 2:
                continue
            if j == 4:
                break
            b += 1
        a += 1
    for i in range(n):
        if i == 2:
            break
    return a, b, i, j


@calls("True, 3", "False, 3", "True, 0")
def returned_value_is_evaluated_in_place(flag, n):
    xs = []
    for i in range(n):
        xs.append(i)
        if flag:
            return len(xs), xs
        n += 1
    return xs


@calls("5", "0")
def recursion_with_loop(n):
    if n <= 0:
        return [n]
    for i in range(n):
        if i == 2:
            return [i, *recursion_with_loop(n - 2)]
    return recursion_with_loop(n - 1)


@calls("100")
def many_flags(n):
    out = []
    while True:
        while True:
            while True:
                n -= 7
                if n % 5 == 0:
                    break
                if n < 0:
                    return out, n
            out.append(n)
            if n % 3 == 0:
                break
        out.append("outer")
        if n < 20:
            break
    return out
