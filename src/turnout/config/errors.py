"""What is wrong with a file, and where."""

from collections.abc import Collection
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from pathlib import Path

MAX_PROBLEMS = 1000
"""After so many, reading stops: nobody reads more, and a hostile file shall not take long."""
MAX_GUESSED = 2000
"""Among more names, a misspelt one is not compared with each."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in the file. Counts from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One error or warning. Line and column count from 1."""

    line: int
    column: int
    field: str
    """Path in the file, such as "services.www.port"; "" for the file as a whole."""
    message: str
    """What was found and what would be right."""

    def at(self, path: Path) -> str:
        """One line for a person or an editor: `file:line:column: field: message`."""
        field = f"{self.field}: " if self.field else ""
        return printable(f"{path}:{self.line}:{self.column}: {field}{self.message}")


class ConfigError(Exception):
    """A file with errors: all of them, in the order of the file. str() has a line for each."""

    def __init__(self, path: Path, errors: tuple[Problem, ...]) -> None:
        super().__init__("\n".join(error.at(path) for error in errors))
        self.path = path
        self.errors = errors


class WrongError(Exception):
    """A value that cannot be what it should; the message says what was found and what is right."""


class TooManyError(Exception):
    """MAX_PROBLEMS are reached."""


class Problems(list[Problem]):
    """What was found wrong so far."""

    def at(self, mark: Mark, field: str, message: str) -> None:
        """Add one. Raises TooManyError with the last that is taken."""
        self.append(Problem(mark.line, mark.column, field, message))
        if len(self) >= MAX_PROBLEMS:
            raise TooManyError


def shown(text: str) -> str:
    """Text from the file for a message of one line: short, and printable."""
    return printable(text if len(text) <= 64 else text[:63] + "…")


def printable(text: str) -> str:
    """The text with what would break its line or fool a terminal escaped. Names of the file come
    into messages by many ways, so lines are held to it where they are made."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def meant(word: str, known: Collection[str]) -> str:
    """What would be right in the place of an unknown word."""
    guess = get_close_matches(word[:64], known, 1, 0.6) if len(known) <= MAX_GUESSED else ()
    if guess:
        return f"did you mean {guess[0]}?"
    more = f", … ({len(known)} in all)" if len(known) > 10 else ""
    return f"expected one of {', '.join(islice(known, 10))}{more}" if known else "there is none"
