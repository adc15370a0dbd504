"""Held-out measurement: what a policy achieves, against baselines and the best possible."""
