"""The server around the pages: guard, logins, health checks and metrics, start and stop, and background work."""
