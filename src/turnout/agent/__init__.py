"""Room agent."""
