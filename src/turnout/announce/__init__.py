"""Room announce."""
