"""`python -m tengbc` is the command `tengbc`."""

from tengbc.cli import main

if __name__ == "__main__":
    main()
