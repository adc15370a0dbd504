"""Domains whose code nobody trusts: it runs in the sandbox, and what it says is checked outside."""
