"""Messages of somebody who means harm, at random, from the documents alone: what each of the families tries once, over and over, with
other sizes, beside bytes that are no message. Some of them are taken in and paid for; a chain has to live with all of them."""
import hashlib
import struct

import sizes
from signed import cid
import wire

WORDS = struct.pack("<64I", *range(64))
SMALL = sizes.kernel("x = x * 5u + 3u;\n")
RACE = sizes.HEAD + sizes.MAIN + "r[x & 7u] = x + i;\n" + sizes.END
ORDER = ("@group(0) @binding(0) var<storage, read_write> a : array<atomic<u32>>;\n@group(1) @binding(0) var<storage, read_write> r : array<u32>;\n"
         "@compute @workgroup_size(8)\nfn main(@builtin(global_invocation_id) g : vec3<u32>) { r[g.x] = atomicAdd(&a[0], g.x); }\n")
# How large a row may be made so that it is surely refused, surely taken in, or somewhere between.
SOME = {"instructions": (8, 600), "largest": (8, 300), "calls": (2, 64), "depth": (3, 16), "nesting": (2, 24), "turns": (16, 4096),
        "private": (8, 512), "function_memory": (8, 512), "array": (8, 256), "values": (2, 24), "expression": (8, 200), "workgroup": (8, 1024), "tables": (8, 512)}


class Hostile:
    """chain: signs (signed.py). people: accounts with keys that are the attackers' own; victims: whose names they take; module: a contract that is there."""

    def __init__(self, chain, rng, people, victims, module):
        self.chain, self.rng, self.people, self.victims, self.module = chain, rng, people, victims, module
        self.shaders, self.sent, self.jobs = [], [], []
        self.kinds = [f for name, f in sorted(vars(Hostile).items()) if name.startswith("try_")]

    def message(self):
        """The bytes of one and what it tries."""
        try_it = self.rng.choice(self.kinds)
        data = try_it(self)
        self.sent = (self.sent + [data])[-200:]
        return data, try_it.__name__[4:]

    def who(self):
        return self.rng.choice(self.people)

    def own(self, kind, **values):
        return self.chain.message(self.who(), kind, **values)

    def execute(self, shader, given=None, output=256, groups=(8, 1, 1), gas=10**8, **more):
        return self.own("execute", shader_cid=shader, input_cid=given or cid(WORDS), dispatch=dict(zip("xyz", groups)), gas_limit=gas, output_bytes=output, **more)

    # ---- programs

    def try_large_shader(self):
        row = self.rng.choice(sorted(sizes.ROWS))
        make, most = sizes.ROWS[row]
        return self.own("upload", wgsl_source=make(most).encode()[:900 << 10], description=row)

    def try_shader(self):
        row = self.rng.choice(sorted(sizes.ROWS))
        low, high = SOME[row]
        text = sizes.ROWS[row][0](self.rng.randrange(low, high)).encode()
        self.shaders = (self.shaders + [cid(text)])[-20:]
        return self.own("upload", wgsl_source=text, description="")

    def try_mutant(self):
        text = bytearray(SMALL.encode())
        for _ in range(self.rng.randrange(1, 4)):
            text[self.rng.randrange(len(text))] = self.rng.choice(b"0123456789abcdefgxyu[](){};+*<>=&|.@/-% \n\x00\xff")
        return self.own("upload", wgsl_source=bytes(text), description="")

    def try_race(self):
        return self.own("upload", wgsl_source=self.rng.choice((RACE, ORDER)).encode(), description="")

    # ---- jobs

    def try_job(self):
        return self.execute(self.rng.choice(self.shaders or [cid(SMALL.encode())]), output=4 * self.rng.randrange(1, 64), groups=(self.rng.randrange(1, 9), 1, 1))

    def try_greedy_job(self):
        """Needs of all sizes, most of them beyond the rules."""
        n = self.rng.choice((0, 1, 1 << 16, 1 << 31))
        return self.execute(self.rng.choice(self.shaders or [cid(SMALL.encode())]), output=self.rng.choice((0, 3, 4, 1 << 20, 64 << 20, 1 << 40)),
                            groups=(n, self.rng.choice((0, 1, 1 << 16)), 1), gas=self.rng.choice((1, 250, 10**9, 2**63)))

    def try_nothing(self):
        return self.execute(self.rng.choice(self.shaders or [cid(SMALL.encode())]), cid(b""), output=4 * self.rng.randrange(1, 9))

    def try_missing(self):
        return self.execute(cid(self.rng.randbytes(8)), cid(self.rng.randbytes(8)))

    def try_chained(self):
        return self.execute(cid(SMALL.encode()), "job:" + self.rng.randbytes(32).hex(), parent_jobs=[self.rng.randbytes(32).hex()])

    def try_cancel(self):
        return self.own("cancel", job_id=self.rng.randbytes(32).hex())

    # ---- bytes

    def try_blob(self):
        return self.own("blob", data=self.rng.randbytes(self.rng.choice((1, 1000, 60 << 10))), blocks=self.rng.choice((1, 5, 1 << 40)))

    def try_blob_again(self):
        return self.own("blob", data=WORDS, blocks=1)

    # ---- other people's names, other chains, numbers

    def try_forged(self):
        return self.chain.message(self.rng.choice(self.victims), "ledger", number=self.rng.randrange(1000), key=self.chain.keys[self.who()], op=2, to="mallory", amount=10**6)

    def try_other_chain(self):
        return self.chain.message(self.who(), "ledger", number=0, chain=self.rng.randbytes(32), op=2, to="mallory", amount=1)

    def try_gap(self):
        return self.chain.message(self.who(), "ledger", number=self.rng.choice((10**6, 2**64 - 1)), op=2, to="mallory", amount=1)

    def try_expired(self):
        return self.own("ledger", expiry=0, op=2, to="mallory", amount=1)

    def try_again(self):
        return self.rng.choice(self.sent) + b"" if self.sent else self.try_gap()

    def try_steal_name(self):
        return self.own("name", op=self.rng.choice((1, 2)), name=self.rng.choice(("mix", "rank", "pctl", "engine")), cid=self.rng.choice(self.shaders or [cid(b"")]))

    # ---- rights and money

    def try_credit(self):
        return self.own("ledger", op=1, to="mallory", amount=2**63)

    def try_spend(self):
        return self.own("ledger", op=self.rng.choice((2, 3, 4, 9)), to=self.rng.choice(("mallory", "eve", "x" * 300, "")), amount=self.rng.choice((0, 1, 2**63, 2**64 - 1)))

    def try_end(self):
        return self.chain.message(self.who(), "block_end", number=self.rng.randrange(1000)) if "sender" in wire.PROTO["MsgBlockEnd"] else self.try_role()

    def try_role(self):
        return self.own("role", role=self.rng.choice((1, 2, 3)), account=self.who(), taken=self.rng.random() < 0.5)

    def try_keys(self):
        """Keys of nobody, and one that is no point of the curve."""
        return self.own("keys", threshold=self.rng.choice((0, 2, 17)), keys=sorted(self.rng.randbytes(32) for _ in range(self.rng.choice((0, 1, 17)))))

    def try_params(self):
        return self.own("params", op=1, height=self.rng.choice((0, 1, 10**6)), changes=[dict(name=self.rng.choice(("rules", "dispute_deposit", "nothing")), value=self.rng.choice(("1", "9", "-1", "")))])

    def try_verdict(self):
        return self.own("verdict", job_id=self.rng.randbytes(32).hex(), output=cid(self.rng.randbytes(4)))

    def try_links(self):
        return self.own("link", source=cid(struct.pack("<I", self.rng.randrange(20))), target=cid(struct.pack("<I", self.rng.randrange(20))), taken=self.rng.random() < 0.3)

    # ---- contracts

    def try_module(self):
        """What is none, and what is nearly one."""
        code = bytearray(self.module)
        for _ in range(self.rng.randrange(1, 4)):
            code[self.rng.randrange(8, len(code)) if len(code) > 8 else 0] = self.rng.randrange(256)
        return self.own("contract", code=bytes(code))

    def try_module_again(self):
        return self.own("contract", code=self.module)

    def try_call(self):
        """Ends well for none of these functions."""
        function = self.rng.choice(("spin", "deep", "spam", "refused", "trap_after_submit", "spin_after_submit", "put_and_trap", "nothing", "alloc", "bytes", "read", "drop"))
        return self.own("call", contract=cid(self.module), function=function, argument=self.rng.choice((b"", self.rng.randbytes(64), bytes(65536), cid(WORDS).encode())),
                        fuel=self.rng.choice((1, 1000, 10**6, 2 * 10**7, 2**63)), pay=self.rng.choice((0, 1, 10**6, 2**64 - 1)))

    def try_call_of_nothing(self):
        return self.own("call", contract=cid(self.rng.randbytes(8)), function="call", fuel=10**6)

    # ---- no messages

    def try_bytes(self):
        return self.rng.randbytes(self.rng.choice((0, 1, 40, 4000)))

    def try_cut(self):
        data = self.own("ledger", number=0, op=2, to="mallory", amount=1)
        return data[:self.rng.randrange(len(data))]

    def try_flipped(self):
        data = bytearray(self.rng.choice(self.sent) if self.sent else self.try_gap())
        if data:
            data[self.rng.randrange(len(data))] ^= 1 << self.rng.randrange(8)
        return bytes(data)


def digest(data):
    return hashlib.sha256(data).hexdigest()
