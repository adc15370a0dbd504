"""Rollouts from vLLM servers: started, watched, mended, and given every new version."""
