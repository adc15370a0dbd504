"""Whether a run fits on GPUs that are not here, and how long its steps would take."""
