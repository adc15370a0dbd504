"""Makes the tiny policy that ships with the project: python -m toolorchestra.warmstart."""
