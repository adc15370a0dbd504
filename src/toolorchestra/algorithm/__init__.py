"""From rewards to a loss: filters, advantages, policy losses, off-policy correction. Pure maths."""
