"""Render, parse and keep the books of a conversation: token-in, token-out."""
