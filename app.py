"""The command line's entry; no command opens the desk app."""

from nongda.cli import main

if __name__ == "__main__":
    main()
