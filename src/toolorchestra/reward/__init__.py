"""What a rollout earns: measured, normalised within its group, weighted by the preference."""
