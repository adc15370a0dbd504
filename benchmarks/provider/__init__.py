"""A provider that misbehaves, and what our client makes of it."""
