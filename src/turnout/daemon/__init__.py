"""Room daemon."""
