# The sieve of Eratosthenes.
# >>> primes(30)
def primes(n):
    """All primes below n."""
    is_prime = [True] * n
    for i in range(2, n):
        if not is_prime[i]:
            continue
        for j in range(i * i, n, i):
            is_prime[j] = False
    return [i for i in range(2, n) if is_prime[i]]

# ------------------------------------------------------------ becomes
def primes(n):
    """All primes below n."""
    is_prime = [True] * n

    def loop_body(i):
        def if_body():
            pass

        def else_body():
            def loop_body(j):
                ag__.ref(is_prime)[j] = False
            ag__.for_stmt(ag__.range_(i * i, n, i), loop_body)
        ag__.if_stmt(ag__.not_(ag__.ref(is_prime)[i]), if_body, else_body)
    ag__.for_stmt(ag__.range_(2, n), loop_body)
    return ag__.list_comp(ag__.range_(2, n), lambda i: i, lambda i: ag__.ref(is_prime)[i])
