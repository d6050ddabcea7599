"""Room health."""
