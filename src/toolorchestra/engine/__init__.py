"""Policy inference: one protocol, and the engines that answer it."""
