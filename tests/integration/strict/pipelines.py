"""pipelines/monte-carlo and pipelines/black-scholes: one CID on every device present, and agreement with double
precision within what single precision explains. The oracle is Python's own arithmetic and library.
usage: pipelines.py [--all] [SELECTOR...]     two devices or more; all that are usable where none is named"""
import json
import math
import os
import struct
import sys

from harness import Harness

h = Harness()
PIPELINES = os.environ["PIPELINES"]
# What a simulator or integers instead of floats take minutes for gets a smaller question.
SLOW = {"Oclgrind": 256}
# SwiftShader's own compiler takes a minute of processor time for kernels that hold several elementary functions made of integers, and
# dies of most: without `--all` it is left out here (tests/exhaustive runs its functions one by one). A crash is printed; wrong bytes
# would still fail.
CRASHES = "SwiftShader"
ALL = "--all" in sys.argv
NAMED = [word for word in sys.argv[1:] if not word.startswith("--")]


def devices():
    status, out, err = h.run("device", "list", "--json")
    h.check("device list", status == 0, err)
    for d in json.loads(out)["devices"]:
        if d["usable"] and d["backend"] != "null" and (ALL or CRASHES not in d["driver"] + d["name"]) \
                and (not NAMED or d["selector"] in NAMED):
            yield d["selector"], d["driver"] + " " + d["name"]


def size_for(device, full):
    return next((n for name, n in SLOW.items() if name in device), full)


def run(pipeline, selector, name, sets, outs):
    args = ["run", os.path.join(PIPELINES, pipeline), "--backend", selector, "--no-memo", "--json"]
    for key, value in sets.items():
        args += ["--set", f"{key}={value}"]
    for port in outs:
        args += ["--out", f"{port}={h.path(port)}"]
    status, out, err = h.run(*args)
    # It crashes, or on a busy machine it is still at it when the host ends the worker.
    if status != 0 and CRASHES in name and ("PC3103" in err or "PC3104" in err):
        print(f"{pipeline}: the compiler of {selector} ({name}) crashed or did not come back", flush=True)
        return None
    if not h.check(f"{pipeline} on {selector}", status == 0, err):
        return None
    return {o["name"]: o["cid"] for o in json.loads(out)["outputs"]}, [h.read(port) for port in outs]


def floats(data):
    return struct.unpack(f"<{len(data) // 4}f", data)


def below(x):
    return 0.5 * math.erfc(-x / math.sqrt(2.0))


def check_prices(contracts, calls, puts):
    worst = 0.0
    for i, (call, put) in enumerate(zip(calls, puts)):
        spot, strike, years, volatility = contracts[4 * i:4 * i + 4]
        spread = volatility * math.sqrt(years)
        d1 = (math.log(spot / strike) + (0.02 + 0.5 * volatility * volatility) * years) / spread
        d2 = d1 - spread
        discounted = strike * math.exp(-0.02 * years)
        want_call = spot * below(d1) - discounted * below(d2)
        want_put = discounted * below(-d2) - spot * below(-d1)
        # Of either term: 7.5e-8 of the formula for the distribution, a dozen roundings to 24 bits; and the rounding
        # of d2, which the first term does not share.
        explained = (spot + discounted) * (7.5e-8 + 12 * 2.0 ** -24)
        explained += discounted * 0.4 * math.exp(-0.5 * d2 * d2) * (abs(d1) + abs(d2)) * 2.0 ** -22
        worst = max(worst, abs(call - want_call) / explained, abs(put - want_put) / explained)
    return worst


def black_scholes(found):
    sizes = sorted({size_for(name, 20000) for _, name in found})
    for n in sizes:
        cids = {}
        for selector, name in found:
            if size_for(name, 20000) != n and selector != "cpu:0":
                continue
            got = run("black-scholes.pipe.cfg", selector, name, {"contracts": n}, ["contracts", "calls", "puts"])
            if got is None:
                continue
            cids[selector] = got[0]
            if selector == "cpu:0":
                contracts, calls, puts = map(floats, got[1])
                h.check("sizes", len(calls) == n and len(puts) == n and len(contracts) == 4 * n)
                worst = check_prices(contracts, calls, puts)
                h.check("black-scholes against double precision", worst <= 1.0, f"{worst} of what f32 explains")
                h.check("not all the same", len(set(calls)) > n // 2)
        h.check(f"black-scholes, {n} contracts: one CID on {len(cids)} devices",
                len(cids) > 1 and len({tuple(sorted(c.items())) for c in cids.values()}) == 1, str(cids))


MASK = 0xFFFFFFFF


def philox(counter, seed):
    c, k0, k1 = [counter, 0, 0, 0], seed, 0
    for _ in range(10):
        p, q = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(q >> 32) ^ c[1] ^ k0, q & MASK, (p >> 32) ^ c[3] ^ k1, p & MASK]
        k0, k1 = (k0 + 0x9E3779B9) & MASK, (k1 + 0xBB67AE85) & MASK
    return c


def simulated(n):
    """Price and standard error in double precision, from the same counters."""
    uniform = lambda w: ((w >> 9) + 0.5) * 2.0 ** -23
    total = squares = 0.0
    for i in range(n // 4):
        w = philox(i, 2026)
        for a, b in ((w[0], w[1]), (w[2], w[3])):
            r, t = math.sqrt(-2 * math.log(uniform(a))), 2 * math.pi * uniform(b)
            for z in (r * math.cos(t), r * math.sin(t)):
                p = max(100.0 * math.exp((0.03 - 0.02) * 1.0 + 0.2 * z) - 105.0, 0.0)
                total += p
                squares += p * p
    mean = total / n
    return math.exp(-0.03) * mean, math.exp(-0.03) * math.sqrt((squares / n - mean * mean) / n)


def monte_carlo(found):
    d1 = (math.log(100 / 105) + 0.05) / 0.2
    exact = 100 * below(d1) - 105 * math.exp(-0.03) * below(d1 - 0.2)
    for n in sorted({size_for(name, 65536) for _, name in found}):
        want, error = simulated(n)
        cids = {}
        for selector, name in found:
            if size_for(name, 65536) != n and selector != "cpu:0":
                continue
            got = run("monte-carlo.pipe.cfg", selector, name, {"paths": n}, ["price"])
            if got is None:
                continue
            cids[selector] = got[0]["price"]
            price, spread = floats(got[1][0])
            # A tree of n sums loses log2(n) roundings, a path about twenty.
            explained = (20 + math.log2(n)) * 2.0 ** -24
            h.check(f"price on {selector}", abs(price - want) <= want * explained, f"{price}, in doubles {want}")
            h.check(f"error on {selector}", abs(spread - error) <= 1e-4 * error, f"{spread}, in doubles {error}")
            h.check(f"closed form, {selector}", abs(price - exact) <= 5 * spread, f"{price} +- {spread}, exactly {exact}")
        h.check(f"monte-carlo, {n} paths: one CID on {len(cids)} devices", len(cids) > 1 and len(set(cids.values())) == 1,
                str(cids))


present = list(devices())
h.check("devices", len(present) > 1, str(present))
black_scholes(present)
monte_carlo(present)
h.finish()
