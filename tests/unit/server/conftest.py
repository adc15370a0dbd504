"""No test of servers reaches a real Slurm."""

from tests.unit.launch.conftest import commands

__all__ = ["commands"]
