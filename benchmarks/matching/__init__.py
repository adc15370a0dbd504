"""How often matchers are right: ours, bare math-verify, and equal strings."""
