"""A public library: its books, copies, members, loans and holds."""
