"""ToolOrchestra: train and evaluate small models that solve tasks by calling bigger ones."""
