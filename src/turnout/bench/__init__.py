"""Room bench."""
