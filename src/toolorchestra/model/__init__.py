"""The policy: loading one, and the tiny one that ships with the project."""
