"""Logs of a long-running command: one event a line on standard error."""

import sys

import structlog


def configure_logs() -> None:
    """Words for a terminal, JSON for everything else."""
    processors: list[structlog.typing.Processor] = [
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    if sys.stderr.isatty():
        processors.append(structlog.dev.ConsoleRenderer())
    else:
        processors.append(structlog.processors.format_exc_info)
        processors.append(structlog.processors.JSONRenderer())
    structlog.configure(
        processors=processors, logger_factory=structlog.PrintLoggerFactory(sys.stderr)
    )
