"""torch._int_mm, the vendor's product of matrices of 8-bit integers, beside bench_tiles: the median of nine, right factor by columns."""
import torch

for n in (1024, 2048, 4096, 8192):
    a, b = (torch.randint(-128, 128, (n, n), dtype=torch.int8, device="cuda") for _ in range(2))
    times = []
    for i in range(12):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        torch._int_mm(a, b.t())
        end.record()
        torch.cuda.synchronize()
        if i >= 3:  # those before warm up
            times.append(begin.elapsed_time(end) * 1e-3)
    print(f"torch._int_mm {n} {2 * n**3 / sorted(times)[4] * 1e-12:.1f}", flush=True)
