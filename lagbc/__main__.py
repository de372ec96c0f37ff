"""``python -m lagbc`` is the command ``lagbc``."""

from lagbc.interfaces.cli import main

if __name__ == "__main__":
    main(prog_name="lagbc")
