"""How fast rollouts are played, and in how much memory. Run: `python -m benchmarks.rollout`."""
