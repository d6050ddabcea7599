"""What goes wrong on a backend."""


class AgentError(Exception):
    """The host is not as it must be, or the kernel refused; the message is the step and the reason."""
