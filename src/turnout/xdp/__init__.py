"""Room xdp."""
