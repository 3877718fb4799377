"""`python -m autograph` is the command `autograph`."""

from autograph.cli import main

if __name__ == "__main__":
    main()
