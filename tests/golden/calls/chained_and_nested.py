# Chains and nests of calls.
# >>> f("a-b")
def f(text):
    parts = text.strip().split("-")
    return ", ".join(parts).upper().center(len(parts[0].strip()) + 10, "*")

# ------------------------------------------------------------ becomes
def f(text):
    parts = ag__.call(ag__.call(text.strip)().split)("-")
    return ag__.call(ag__.call(ag__.call(", ".join)(parts).upper)().center)(ag__.len_(ag__.call(parts[0].strip)()) + 10, "*")
