"""torch.mm of f32 (no tf32) and of f64, the vendor's products, beside bench_tiles f64: the median of nine."""
import torch

torch.backends.cuda.matmul.allow_tf32 = False
for kind in (torch.float32, torch.float64):
    for n in (1024, 2048, 4096, 8192):
        a, b = (torch.rand((n, n), dtype=kind, device="cuda") - 0.5 for _ in range(2))
        times = []
        for i in range(12):
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            torch.mm(a, b)
            end.record()
            torch.cuda.synchronize()
            if i >= 3:  # those before warm up
                times.append(begin.elapsed_time(end) * 1e-3)
        print(f"torch.mm {kind} {n} {2 * n**3 / sorted(times)[4] * 1e-12:.1f}", flush=True)
