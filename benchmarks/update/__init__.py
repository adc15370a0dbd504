"""How fast a step's rows become an update. Run: `python -m benchmarks.update`."""
