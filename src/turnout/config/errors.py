"""What is wrong with a file, and where."""

from dataclasses import dataclass
from pathlib import Path


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
        return f"{path}:{self.line}:{self.column}: {field}{self.message}"


class ConfigError(Exception):
    """A file with errors: all of them, in the order of the file. str() has a line for each."""

    def __init__(self, path: Path, errors: tuple[Problem, ...]) -> None:
        super().__init__("\n".join(error.at(path) for error in errors))
        self.path = path
        self.errors = errors


class WrongError(Exception):
    """A value that cannot be what it should; the message says what was found and what is right."""
