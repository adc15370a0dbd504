"""The seeded worlds that tasks ask about: records, a small wiki, and the functions over them."""
