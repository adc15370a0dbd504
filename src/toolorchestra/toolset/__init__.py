"""Which tools exist, which an episode offers, and what the policy is told of them."""
