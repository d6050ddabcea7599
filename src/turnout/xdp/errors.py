"""What can go wrong with the data plane."""


class DataPlaneError(Exception):
    """The kernel refused; the message is the step, the reason and what can be done. What was in
    force before still is."""


class FullError(Exception):
    """A map has no place left for what a plan asks."""
