"""What a GPU computes at its best, as its maker says."""

HALF = ("bfloat16", "float16")

TFLOPS: dict[str, tuple[float, float | None]] = {
    "NVIDIA H200": (989.5, 67.0),
    "NVIDIA H200 NVL": (835.5, 60.0),
    "NVIDIA H100 80GB HBM3": (989.5, 67.0),
    "NVIDIA H100 PCIe": (756.5, 51.0),
    "NVIDIA A100-SXM4-40GB": (312.0, 19.5),
    "NVIDIA A100-SXM4-80GB": (312.0, 19.5),
    "NVIDIA A100-PCIE-40GB": (312.0, 19.5),
    "NVIDIA A100 80GB PCIe": (312.0, 19.5),
    "NVIDIA L40S": (362.0, 91.6),
    "NVIDIA L4": (121.0, 30.3),
    "NVIDIA A10": (125.0, 31.2),
}
"""The name that the driver gives a GPU → 10¹² operations per second in 16 bits (tensor cores, bfloat16 and float16
alike, without sparsity) and in float32 (without TF32).

Source: NVIDIA's data sheets of these products; where they print a rate with sparsity, half of it.
"""


def peak_tflops(device: str, dtype: str) -> float | None:
    """The peak of a device in a precision, 10¹² operations per second; None if it is not known."""
    half, single = TFLOPS.get(device, (None, None))
    if dtype in HALF:
        return half
    return single if dtype == "float32" else None
