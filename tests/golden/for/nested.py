# Three deep; names that the outer loops do not carry stay inside.
# >>> matmul([[1, 2], [3, 4]], [[5, 6], [7, 8]])
def matmul(a, b):
    c = [[0] * len(b[0]) for _ in a]
    for i in range(len(a)):
        for j in range(len(b[0])):
            s = 0
            for k in range(len(b)):
                s += a[i][k] * b[k][j]
            c[i][j] = s
    return c

# ------------------------------------------------------------ becomes
def matmul(a, b):
    c = ag__.list_comp(a, lambda _: [0] * ag__.len_(b[0]))

    def loop_body(i):
        def loop_body(j):
            s = 0

            def loop_body(k):
                nonlocal s
                s += ag__.ref(ag__.ref(a)[i])[k] * ag__.ref(ag__.ref(b)[k])[j]
            ag__.for_stmt(ag__.range_(ag__.len_(b)), loop_body, ('s',))
            ag__.ref(ag__.ref(c)[i])[j] = s
        ag__.for_stmt(ag__.range_(ag__.len_(b[0])), loop_body)
    ag__.for_stmt(ag__.range_(ag__.len_(a)), loop_body)
    return c
