"""The update: from scored groups to one optimizer step, checkpointed and resumable."""
