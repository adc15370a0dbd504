"""ToolOrchestra: train and evaluate language models that solve tasks by calling tools and bigger models."""
