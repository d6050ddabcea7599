"""Room maglev."""
