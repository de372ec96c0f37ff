"""The command `lagbc`, also as ``python -m lagbc``."""

import sys

from lagbc.interfaces.process import signals_raise


def run() -> None:
    """Run the command; while it is loaded Ctrl-C ends it with the words and the status that it has later."""
    try:
        with signals_raise():
            from lagbc.interfaces.cli import main
    except KeyboardInterrupt:
        sys.stderr.write("lagbc: interrupted\n")
        sys.exit(130)
    main(prog_name="lagbc")


if __name__ == "__main__":
    run()
