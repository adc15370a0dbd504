"""Servers of open-weight experts and of search: registered where tools look, kept up, and found."""
