"""The multi-turn loop, and the groups of rollouts that a step trains on."""
