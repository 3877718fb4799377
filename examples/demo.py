"""Where `make demo` starts. For now it only shows that the library can be imported."""

import autograph

print(f"autograph can be imported from {autograph.__name__!r}; what it does is still being written.")
