"""Where tasks come from: the seeded local world, and files of tasks."""
