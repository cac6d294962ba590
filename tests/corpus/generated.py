"""Writes the WGSL kernels that tinygrad (PyPI; 0.14.0 was counted) renders for the operations and small models below into a folder, for `corpus`.
No device is needed: tinygrad schedules for its CPU, and each kernel goes through its WGSL renderer. usage: TRAINING=1 generated.py FOLDER"""
import hashlib
import os
import sys

from tinygrad import Tensor, dtypes, nn
from tinygrad.codegen import to_program
from tinygrad.helpers import Target
from tinygrad.renderer.wgsl import WGSLRenderer
from tinygrad.uop.ops import Ops

FOLDER = sys.argv[1]
RENDERER = WGSLRenderer(Target("WEBGPU", arch="shader-f16"))
seen = set()


def emit(name, *tensors):
    """The kernels that give these tensors, but for those that were there already."""
    for call in tensors[0].schedule_linear(*tensors[1:]).toposort():
        kernel = call.src[0] if call.op is Ops.CALL else call
        if kernel.op is not Ops.SINK:
            continue
        for source in to_program(kernel, RENDERER).src:
            if source.op is Ops.SOURCE and source.arg not in seen:
                seen.add(source.arg)
                digest = hashlib.sha256(source.arg.encode()).hexdigest()[:12]
                with open(os.path.join(FOLDER, f"{name}-{digest}.wgsl"), "w", encoding="utf-8") as f:
                    f.write(source.arg)


def empty(*shape, dtype=dtypes.float):
    return Tensor.empty(*shape, device="CPU", dtype=dtype)


def operations():
    x, m, image = empty(1000), empty(64, 64), empty(4, 3, 32, 32)
    emit("matmul", empty(64, 128) @ empty(128, 256))
    emit("matmul-large", empty(512, 512) @ empty(512, 512))
    emit("matmul-half", empty(64, 64, dtype=dtypes.half) @ empty(64, 64, dtype=dtypes.half))
    emit("einsum", Tensor.einsum("bij,bjk->bik", empty(4, 8, 16), empty(4, 16, 8)))
    emit("attention", empty(2, 4, 32, 64).scaled_dot_product_attention(empty(2, 4, 32, 64), empty(2, 4, 32, 64), is_causal=True))
    for name in ("softmax", "log_softmax", "layernorm", "argmax", "cumsum", "std", "var", "prod", "min", "tril"):
        emit(name, getattr(m, name)())
    for name in ("gelu", "silu", "tanh", "erf", "sin", "dropout"):
        emit(name, getattr(x, name)())
    emit("pow", x**x)
    emit("sort", empty(64).sort()[0])
    emit("topk", empty(64).topk(5)[0])
    emit("conv", image.conv2d(empty(16, 3, 3, 3), padding=1))
    emit("conv3d", empty(1, 2, 8, 8, 8).conv2d(empty(4, 2, 3, 3, 3)))
    emit("conv-transposed", empty(1, 8, 16, 16).conv_transpose2d(empty(8, 4, 3, 3), stride=2))
    emit("max-pool", image.max_pool2d())
    emit("avg-pool", image.avg_pool2d())
    emit("interpolate", empty(1, 3, 16, 16).interpolate((32, 32)))
    emit("gather", empty(100, 64).gather(0, empty(5, 64, dtype=dtypes.int)))
    emit("scatter", empty(64).scatter(0, empty(64, dtype=dtypes.int), empty(64)))
    emit("embedding", nn.Embedding(1000, 64)(empty(4, 16, dtype=dtypes.int)))
    emit("one-hot", empty(64, dtype=dtypes.int).one_hot(10).cast(dtypes.int))
    emit("movement", m.flip(0), m.pad((1, 1, 2, 2)), m.roll(3, 0), empty(64, 65).T.contiguous())
    emit("random", Tensor.rand(1000, device="CPU"), Tensor.randn(1000, device="CPU"))
    emit("norms", nn.BatchNorm(8)(empty(4, 8, 8, 8)), nn.GroupNorm(4, 8)(empty(4, 8, 8, 8)), nn.RMSNorm(64)(empty(4, 64)))
    emit("lstm", *nn.LSTMCell(16, 32)(empty(4, 16)))


def element_types():
    for dtype in (dtypes.char, dtypes.uchar, dtypes.short, dtypes.ushort, dtypes.int, dtypes.uint, dtypes.bool, dtypes.half):
        x, y = empty(1001, dtype=dtype), empty(1001, dtype=dtype)
        emit("types", x + y, x * y, x.maximum(y), x.sum(), x.cat(y), (x < y).where(x, y), x.cast(dtypes.float), empty(1001).cast(dtype))
        if dtype not in (dtypes.half, dtypes.bool):
            emit("types", (x // (y + 1)) % 7, x ^ y)


class Convolutional:
    def __init__(self):
        self.first, self.second = nn.Conv2d(1, 16, 5), nn.Conv2d(16, 32, 3)
        self.norm, self.last = nn.BatchNorm(16), nn.Linear(32 * 5 * 5, 10)

    def __call__(self, x):
        x = self.norm(self.first(x)).relu().max_pool2d()
        return self.last(self.second(x).relu().max_pool2d().flatten(1))


class Transformer:
    """One block."""

    def __init__(self, dim=64, heads=4):
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Linear(dim, dim) for _ in range(4))
        self.before, self.between = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.up, self.down = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim)

    def __call__(self, x):
        batch, n, dim = x.shape
        y = self.before(x)
        q, k, v = (part(y).reshape(batch, n, self.heads, dim // self.heads).transpose(1, 2) for part in (self.q, self.k, self.v))
        x = x + self.o(q.scaled_dot_product_attention(k, v, is_causal=True).transpose(1, 2).reshape(batch, n, dim))
        return x + self.down(self.up(self.between(x)).gelu())


def training():
    net = Convolutional()
    step = nn.optim.Adam(nn.state.get_parameters(net))
    loss = net(empty(32, 1, 28, 28)).sparse_categorical_crossentropy(empty(32, dtype=dtypes.int))
    loss.backward()
    emit("convolutional", loss, *step.schedule_step())
    block = Transformer()
    emit("transformer", block(empty(2, 33, 64)))
    step = nn.optim.SGD(nn.state.get_parameters(block))
    loss = block(empty(2, 16, 64)).square().mean()
    loss.backward()
    emit("transformer-training", loss, *step.schedule_step())


operations()
element_types()
training()
print(f"{len(seen)} kernels")
