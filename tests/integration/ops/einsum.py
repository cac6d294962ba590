"""tensor.einsum against fractions, letter by letter.
usage: einsum.py all|few BACKEND..."""
import itertools
import sys

from harness import Harness, Random
from matmul import FLOATS, INTEGERS, bits_of, codes, exact, pack, times, value
from rows import together

EQUATIONS = ("ij,jk->ik", "bij,bjk->bik", "ij,kj->ki", "i,j->ij", "ij,j->i", "ii->i", "ii->", "ij->ji", "ij->", "ij,ij->", "ijk,jl->kil",
             "ij,kl->ik", "ij,jk,kl->il", "i,ij,j->", "i,j,k->kji", "abi,bij,j->ba", "Za,aZ->Z", "->", ",->")
EXTENTS = ({"i": 3, "j": 5, "k": 2, "l": 4, "a": 2, "b": 3, "Z": 2}, {"i": 2, "j": 0, "k": 3, "l": 1, "a": 1, "b": 2, "Z": 1})


def place(letters, extent, at):
    index = 0
    for letter in letters:
        index = index * extent[letter] + at[letter]
    return index


def wanted(kind, of, operands, data, result, extent):
    """Codes of the result of one or two tensors; `of` is the type of each."""
    over = sorted(set("".join(operands)) - set(result))
    out = []
    for kept in itertools.product(*(range(extent[letter]) for letter in result)):
        if len(operands) == 1 and not over:
            out.append(data[0][place(operands[0], extent, dict(zip(result, kept)))])
            continue
        terms = []
        for rest in itertools.product(*(range(extent[letter]) for letter in over)):
            at = dict(zip(result, kept)) | dict(zip(over, rest))
            factors = [value(t, d[place(letters, extent, at)]) for t, letters, d in zip(of, operands, data)]
            terms.append(times(*factors) if len(factors) == 2 else factors[0])
        out.append(exact(kind, terms) if kind in FLOATS else int(sum(terms)) % (1 << INTEGERS[kind]))
    return out


def product_kind(kind, n):
    if n == 1:
        return kind
    return "f32" if kind in FLOATS else {"i8": "i32", "i16": "i32", "u8": "u32", "u16": "u32"}.get(kind, kind)


@together
def run(h, r, backends, equation, kind, extent, how):
    operands, result = equation.split("->")[0].split(","), equation.split("->")[1]
    sizes = [[extent[letter] for letter in letters] for letters in operands]
    data = []
    for size in sizes:
        n = 1
        for d in size:
            n *= d
        data.append(codes(r, kind, n, how))
    final = product_kind(kind, len(operands))
    of, values, letters = [kind] * len(operands), data, operands
    if len(operands) == 3:
        between = "".join(dict.fromkeys(c for c in operands[0] + operands[1] if c in operands[2] + result))
        values = [wanted(final, of[:2], operands[:2], data[:2], between, extent), data[2]]
        of, letters = [final, kind], [between, operands[2]]
    want = pack(final, wanted(final, of, letters, values, result, extent))
    inputs = [(f"xs[{i}]", pack(kind, d), kind + (str(size).replace(" ", "") if size else "")) for i, (d, size) in enumerate(zip(data, sizes))]
    for backend in backends:
        got = yield "tensor.einsum", inputs, ["y"], backend, ["equation=" + equation]
        if got is not None:
            h.check_bytes(f"{equation} {kind} {extent} {backend}", got[0], want, bits_of(final) // 8)


def refusals(h):
    for equation, kinds, words in (("ij,jk", ["f32[2,2]", "f32[2,2]"], "PC4202"), ("ij->k", ["f32[2,2]"], "no operand has"),
                                   ("ij->ii", ["f32[2,2]"], "twice"), ("ij->i", ["f32[4]"], "PC4201"), ("ij,jk->ik", ["f32[2,2]"], "as many operands"),
                                   ("ij,jk->ik", ["f32[2,2]", "f32[3,1]"], "one extent"), ("i,j,k,l->", ["f32[1]"] * 4, "more than three"),
                                   ("ij,jk->ik", ["i32[2,2]", "u32[2,2]"], "PC4201"), ("i1->i", ["f32[2,2]"], "PC4202"), ("ij->i", ["u8[2,2]"], "tensor.sum"),
                                   ("ij->i j", ["f32[2,2]"], "else than letters")):
        args = ["op", "run", "tensor.einsum", "--backend", "cpu", "--out", "y=" + h.path("y"), "--attr", "equation=" + equation]
        for i, kind in enumerate(kinds):
            name, size = kind[:-1].split("[")
            n = bits_of(name) // 8
            for d in size.split(","):
                n *= int(d)
            args += ["--in", f"xs[{i}]={h.write(f'x{i}', bytes(n))}:{kind}"]
        status, _, err = h.run(*args)
        h.check(f"refused {equation}", status != 0 and words in err, err)


def main():
    h, r = Harness(), Random(21)
    how, backends = sys.argv[1], sys.argv[2:]
    for equation, kind in (("ij,jk->ik", "f32"), ("bij,bjk->bik", "f16"), ("ij,jk,kl->il", "f32"), ("ii->", "f32"), ("ij,kj->ki", "i8"),
                           ("ij->ji", "u16")):
        run(h, r, backends, equation, kind, EXTENTS[0], "cancel" if kind == "f32" else "any")
    if how == "all":
        refusals(h)
        for equation in EQUATIONS:
            for extent in EXTENTS:
                run(h, r, backends, equation, "f32", extent, "any")
            run(h, r, backends, equation, "bf16", EXTENTS[0], "ties")
            run(h, r, backends, equation, "i64", EXTENTS[0], "any")
    h.finish()


if __name__ == "__main__":
    main()
