# A `match` over strings can never be staged.
# >>> f("go"), f("no")
def f(command):
    match command:
        case "go" | "run":
            return 1
        case _:
            return 0

# ------------------------------------------------------------ becomes
def f(command):
    match command:
        case "go" | "run":
            return 1
        case _:
            return 0
