"""GPUs that a dry run knows: figures of the makers' data sheets, dense, without sparsity.

NVIDIA H100 and H200 Tensor Core GPU data sheets (SXM; they state twice the peaks, "with sparsity"),
NVIDIA A100 Tensor Core GPU data sheet (SXM, 80 GB). Memory is what torch says a GPU has, which is
what is left beside error correction and driver: "total capacity" in its messages.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

GIB = 1 << 30


@dataclass(frozen=True, kw_only=True, slots=True)
class Gpu:
    """One kind of GPU."""

    name: str
    memory_gib: float
    """Of which torch can use all but what the driver and CUDA take."""
    bandwidth_tb_per_s: float
    """Of its memory, 10^12 bytes a second."""
    peak_tflops: Mapping[str, float]
    """10^12 operations a second on matrices, by dtype."""

    @property
    def memory_bytes(self) -> float:
        """The same in bytes."""
        return self.memory_gib * GIB


GPUS = {
    "h100_80gb": Gpu(
        name="H100 SXM 80 GB",
        memory_gib=79.1,
        bandwidth_tb_per_s=3.35,
        peak_tflops={"bfloat16": 989.0, "float32": 67.0},
    ),
    "h200_141gb": Gpu(
        name="H200 SXM 141 GB",
        memory_gib=139.8,
        bandwidth_tb_per_s=4.8,
        peak_tflops={"bfloat16": 989.0, "float32": 67.0},
    ),
    "a100_80gb": Gpu(
        name="A100 SXM 80 GB",
        memory_gib=79.2,
        bandwidth_tb_per_s=2.04,
        peak_tflops={"bfloat16": 312.0, "float32": 19.5},
    ),
}


def gpu_of(name: str) -> Gpu:
    """The GPU of this name.

    Raises:
        ValueError: There is none.
    """
    if name not in GPUS:
        raise ValueError(f"dry_run.gpu: {name!r} is not allowed; use {', '.join(GPUS)}, or null")
    return GPUS[name]
