"""python -m szego COMMAND ... becomes the program szego."""
import os
import sys

from .errors import ProgramError
from .program import environment, program


def main() -> None:
    try:
        path = program()
        os.execve(path, ["szego", *sys.argv[1:]], environment())
    except ProgramError as error:
        sys.exit(f"szego: {error}")
    except OSError as error:
        sys.exit(f"szego: {path}: {error.strerror}")


if __name__ == "__main__":
    main()
