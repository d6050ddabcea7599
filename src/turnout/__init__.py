"""Turnout: a layer-4 load balancer for Linux."""

__version__ = "0.1.0"
