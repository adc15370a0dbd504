"""Where untrusted Python runs: confined, within limits, in interpreters that may wait warm."""
