"""What a run leaves behind: metrics, trajectories, tables, figures and W&B logs."""
