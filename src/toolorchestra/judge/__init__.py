"""Who decides whether an answer is right: matchers first, then, where asked for, a model."""
