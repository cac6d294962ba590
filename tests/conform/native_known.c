/* Native operations beside a zero or a one that the driver's compiler can find out: written down, left
 * in a variable, converted, picked, looked up, carried by a loop. Some compilers then drop the
 * operation, and with it the sign of a zero or a NaN. The results follow from the operand's bits. */
#include "native.h"

#define OPS 6u	    /* of `combine` */
#define SOURCES 16u /* of `zero` */
#define ONES 5u	    /* of `one` */
#define RESULTS (SOURCES * OPS + ONES * 2u + 2u)

typedef struct known {
	words w;
	uint8_t scalar;
	uint32_t bits, mantissa;
	uint32_t type, pair, array;
	uint32_t unset, kept, list, index; /* locals */
	uint32_t own, function;
} known;

static uint64_t number_one(const known *k)
{
	return k->bits == 16 ? 0x3c00 : k->bits == 32 ? 0x3f800000 : 0x3ff0000000000000;
}

static uint32_t literal(known *k, uint64_t bits)
{
	return pctl_build_const(k->w.b, k->type, bits);
}

static uint32_t from_words(known *k, uint32_t low, uint32_t high)
{
	pctl_builder *b = k->w.b;

	if (k->bits == 32)
		return native_inst(b, PCTL_OP_BITCAST, k->type, 1, low);
	if (k->bits == 16)
		return native_inst(b, PCTL_OP_EXTRACT, k->type, 2,
				   native_inst(b, PCTL_OP_BITCAST, k->pair, 1, low), 0);
	return native_inst(b, PCTL_OP_BITCAST, k->type, 1,
			   native_inst(b, PCTL_OP_COMPOSE, pctl_build_vector(b, PCTL_SCALAR_U32, 2),
				       2, low, high));
}

static void leave(known *k, uint32_t x)
{
	const uint32_t two = pctl_build_vector(k->w.b, PCTL_SCALAR_U32, 2);

	if (k->bits == 64) {
		x = native_inst(k->w.b, PCTL_OP_BITCAST, two, 1, x);
		words_leave(&k->w, native_inst(k->w.b, PCTL_OP_EXTRACT, k->w.u32, 2, x, 0));
		x = native_inst(k->w.b, PCTL_OP_EXTRACT, k->w.u32, 2, x, 1);
	} else {
		if (k->bits == 16)
			x = native_inst(k->w.b, PCTL_OP_COMPOSE, k->pair, 2, x, x);
		words_leave(&k->w, native_inst(k->w.b, PCTL_OP_BITCAST, k->w.u32, 1, x));
		x = native_u32(&k->w, 0);
	}
	words_leave(&k->w, x);
}

/* ---- where the zeros and ones come from ---- */

static uint32_t looked_up(known *k)
{
	pctl_builder *b = k->w.b;
	const uint32_t index = native_u32(&k->w, 1);

	if (k->bits == 16)
		return literal(k, 0); /* tables have no elements of 16 bits */
	if (k->bits == 64)
		return native_inst(b, PCTL_OP_LOOKUP, k->type, 5, index, 0, 0x3ff00000u, 0, 0);
	return native_inst(b, PCTL_OP_LOOKUP, k->type, 3, index, 0x3f800000u, 0);
}

static uint32_t zero(known *k, uint32_t source)
{
	pctl_builder *b = k->w.b;
	uint32_t x;

	switch (source) {
	case 0:
		return literal(k, 0);
	case 1:
		return native_inst(b, PCTL_OP_ZERO, k->type, 0);
	case 2:
		return native_inst(b, PCTL_OP_LOAD, k->type, 1, PCTL_PLACE_LOCAL | k->unset);
	case 3:
		return from_words(k, native_u32(&k->w, 0), native_u32(&k->w, 0));
	case 4:
		return native_inst(b, PCTL_OP_NCONVERT, k->type, 1, native_u32(&k->w, 0));
	case 5:
		x = native_inst(b, PCTL_OP_ZERO, pctl_build_vector(b, k->scalar, 3), 0);
		return native_inst(b, PCTL_OP_EXTRACT, k->type, 2, x, 2);
	case 6:
		x = native_inst(b, PCTL_OP_ZERO, k->array, 0);
		return native_inst(b, PCTL_OP_EXTRACT, k->type, 2, x, 1);
	case 7:
		return native_inst(b, PCTL_OP_LOAD, k->type, 2, PCTL_PLACE_LOCAL | k->list,
				   native_u32(&k->w, 2));
	case 8:
		x = native_inst(b, PCTL_OP_LT, k->w.boolean, 2, native_u32(&k->w, 3),
				native_u32(&k->w, 4));
		return native_inst(b, PCTL_OP_SELECT, k->type, 3, x, literal(k, 0),
				   literal(k, number_one(k)));
	case 9: /* outside of the vector */
		x = native_inst(b, PCTL_OP_COMPOSE, k->pair, 2, literal(k, number_one(k)),
				literal(k, number_one(k)));
		return native_inst(b, PCTL_OP_EXTRACT_DYN, k->type, 2, x,
				   native_inst(b, PCTL_OP_ADD, k->w.u32, 2, native_u32(&k->w, 5),
					       native_inst(b, PCTL_OP_LOAD, k->w.u32, 1,
							   PCTL_PLACE_LOCAL | k->index)));
	case 10:
		return looked_up(k);
	case 11:
		return native_inst(b, PCTL_OP_LOAD, k->type, 1, k->own);
	case 12:
		return native_inst(b, PCTL_OP_CALL, k->type, 1, k->function);
	case 13:
		x = native_inst(b, PCTL_OP_LOAD, k->w.u32, 1, PCTL_PLACE_LOCAL | k->index);
		return native_inst(b, PCTL_OP_NCONVERT, k->type, 1, x);
	case 14:
		return native_inst(b, PCTL_OP_NSUB, k->type, 2, literal(k, number_one(k)),
				   literal(k, number_one(k)));
	default: /* what was an integer all along */
		x = native_inst(b, PCTL_OP_AND, k->w.u32, 2, k->w.row, native_u32(&k->w, 0));
		return from_words(k, x, x);
	}
}

static uint32_t one(known *k, uint32_t source)
{
	pctl_builder *b = k->w.b;
	uint32_t x;

	switch (source) {
	case 0:
		return literal(k, number_one(k));
	case 1:
		return native_inst(b, PCTL_OP_NCONVERT, k->type, 1, native_u32(&k->w, 1));
	case 2:
		native_inst(b, PCTL_OP_STORE, 0, 2, literal(k, number_one(k)),
			    PCTL_PLACE_LOCAL | k->kept);
		return native_inst(b, PCTL_OP_LOAD, k->type, 1, PCTL_PLACE_LOCAL | k->kept);
	case 3:
		x = native_inst(b, PCTL_OP_SPLAT, pctl_build_vector(b, k->scalar, 4), 1,
				literal(k, number_one(k)));
		return native_inst(b, PCTL_OP_EXTRACT, k->type, 2, x, 3);
	default:
		return native_inst(b, PCTL_OP_NADD, k->type, 2, literal(k, number_one(k)),
				   literal(k, 0));
	}
}

/* ---- what they meet ---- */

static uint32_t combine(known *k, uint32_t op, uint32_t x, uint32_t z)
{
	static const uint16_t opcodes[OPS] = {PCTL_OP_NADD, PCTL_OP_NADD, PCTL_OP_NSUB,
					      PCTL_OP_NSUB, PCTL_OP_NMUL, PCTL_OP_NMUL};

	return native_inst(k->w.b, opcodes[op], k->type, 2, op % 2 ? z : x, op % 2 ? x : z);
}

/* r = start; for (i = 0; i < 2; i++) r = r op (i == 0 ? x : start), which a compiler unrolls. */
static uint32_t accumulated(known *k, uint16_t op, uint32_t x, uint64_t start)
{
	pctl_builder *b = k->w.b;
	const uint32_t sum = PCTL_PLACE_LOCAL | k->kept, i = PCTL_PLACE_LOCAL | k->index;
	uint32_t n, first, part;

	native_inst(b, PCTL_OP_STORE, 0, 2, literal(k, start), sum);
	native_inst(b, PCTL_OP_STORE, 0, 2, native_u32(&k->w, 0), i);
	native_inst(b, PCTL_OP_LOOP, 0, 0);
	n = native_inst(b, PCTL_OP_LOAD, k->w.u32, 1, i);
	native_inst(b, PCTL_OP_LOOP_TEST, 0, 1,
		    native_inst(b, PCTL_OP_LT, k->w.boolean, 2, n, native_u32(&k->w, 2)));
	n = native_inst(b, PCTL_OP_LOAD, k->w.u32, 1, i);
	first = native_inst(b, PCTL_OP_EQ, k->w.boolean, 2, n, native_u32(&k->w, 0));
	part = native_inst(b, PCTL_OP_SELECT, k->type, 3, first, x, literal(k, start));
	part = native_inst(b, op, k->type, 2, native_inst(b, PCTL_OP_LOAD, k->type, 1, sum), part);
	native_inst(b, PCTL_OP_STORE, 0, 2, part, sum);
	native_inst(b, PCTL_OP_CONTINUING, 0, 0);
	n = native_inst(b, PCTL_OP_LOAD, k->w.u32, 1, i);
	native_inst(b, PCTL_OP_STORE, 0, 2,
		    native_inst(b, PCTL_OP_ADD, k->w.u32, 2, n, native_u32(&k->w, 1)), i);
	native_inst(b, PCTL_OP_END_LOOP, 0, 0);
	return native_inst(b, PCTL_OP_LOAD, k->type, 1, sum);
}

static rig_program program(known *k)
{
	pctl_var v = {.space = PCTL_SPACE_PRIVATE, .access = PCTL_ACCESS_READ_WRITE};
	uint32_t low, high, x, s, op;

	words_begin(&k->w);
	k->type = pctl_build_scalar(k->w.b, k->scalar);
	k->pair = pctl_build_vector(k->w.b, k->scalar, 2);
	k->array = pctl_build_array(k->w.b, k->type, 4, 0);
	v.type = k->type;
	k->own = pctl_build_var(k->w.b, &v, "own");
	pctl_build_function_begin(k->w.b, "nothing", NULL, 0, k->type);
	native_inst(k->w.b, PCTL_OP_RETURN, 0, 1, native_inst(k->w.b, PCTL_OP_ZERO, k->type, 0));
	k->function = pctl_build_function_end(k->w.b);
	words_main(&k->w, 2, 2 * RESULTS);
	k->unset = pctl_build_local(k->w.b, "unset", k->type);
	k->kept = pctl_build_local(k->w.b, "kept", k->type);
	k->list = pctl_build_local(k->w.b, "list", k->array);
	k->index = pctl_build_local(k->w.b, "index", k->w.u32);
	low = words_take(&k->w);
	high = words_take(&k->w);
	x = from_words(k, low, high);
	for (s = 0; s < SOURCES; s++)
		for (op = 0; op < OPS; op++)
			leave(k, combine(k, op, x, zero(k, s)));
	for (s = 0; s < ONES; s++) {
		leave(k, combine(k, 4, x, one(k, s)));
		leave(k, combine(k, 5, x, one(k, s)));
	}
	leave(k, accumulated(k, PCTL_OP_NADD, x, 0));
	leave(k, accumulated(k, PCTL_OP_NMUL, x, number_one(k)));
	return words_end(&k->w);
}

/* ---- what must come out ---- */

static uint64_t field(const known *k)
{
	return ((1ull << (k->bits - 1)) - 1) & ~((1ull << k->mantissa) - 1);
}

static int is_nan(const known *k, uint64_t x)
{
	return (x & ((1ull << (k->bits - 1)) - 1)) > field(k);
}

static uint64_t expected(const known *k, uint32_t result, uint64_t x)
{
	const uint64_t sign = 1ull << (k->bits - 1), magnitude = x & (sign - 1);
	const uint32_t op = result < SOURCES * OPS  ? result % OPS
			    : result == RESULTS - 2 ? 0u
						    : OPS;

	if (is_nan(k, x) || op == OPS)
		return x;
	switch (op) {
	case 0:
	case 1:
		return magnitude ? x : 0;
	case 2:
		return x; /* -0 - 0 is -0 */
	case 3:
		return magnitude ? x ^ sign : 0;
	default:
		return magnitude == field(k) ? field(k) + 1 : x & sign;
	}
}

static uint64_t operand(const known *k, uint32_t row)
{
	const uint64_t top = field(k), sign = row % 2 ? 1ull << (k->bits - 1) : 0;
	const uint64_t least = 1ull << k->mantissa, one_bits = number_one(k);
	const uint64_t list[] = {0,	one_bits,  top, top + least / 2, top - 1,
				 least, least + 1, 1,	least - 1,	 one_bits + 1};
	const uint64_t n = sizeof(list) / sizeof(list[0]);

	if (row / 2 < n)
		return list[row / 2] | sign;
	return ((row * 0x9e3779b97f4a7c15ull) % (top - least) + least) | sign;
}

static void known_of(rig *r, uint8_t scalar, uint32_t bits, uint32_t mantissa)
{
	known k = {.scalar = scalar, .bits = bits, .mantissa = mantissa};
	static uint32_t out[2 * RESULTS * WORDS_GROUP];
	const uint64_t mask = bits == 64 ? ~0ull : (1ull << bits) - 1;
	uint32_t in[2 * WORDS_GROUP], row, i;

	for (row = 0; row < WORDS_GROUP; row++) {
		in[2 * row] = (uint32_t)operand(&k, row);
		in[2 * row + 1] = (uint32_t)(operand(&k, row) >> 32);
	}
	words_run(r, program(&k), in, 2, out, 2 * RESULTS, WORDS_GROUP);
	for (row = 0; row < WORDS_GROUP; row++)
		for (i = 0; i < RESULTS; i++) {
			const uint32_t *at = out + 2 * (RESULTS * row + i);
			const uint64_t x = operand(&k, row), want = expected(&k, i, x);
			const uint64_t got = (at[0] | (uint64_t)at[1] << 32) & mask;
			const uint64_t small = x & (mask >> 1);

			if (small && small < 1ull << mantissa && !native_keeps_subnormals(r))
				continue;
			if (got != want && !(is_nan(&k, got) && is_nan(&k, want)))
				fail_msg("%s: %u bits, result %u of %#llx is %#llx, not %#llx",
					 r->info.name, bits, i, (unsigned long long)x,
					 (unsigned long long)got, (unsigned long long)want);
		}
}

void native_known(rig *r)
{
	known_of(r, PCTL_SCALAR_F32, 32, 23);
	if (r->caps.caps & PCTL_CAP_F64)
		known_of(r, PCTL_SCALAR_F64, 64, 52);
	if (r->caps.caps & PCTL_CAP_F16)
		known_of(r, PCTL_SCALAR_F16, 16, 10);
}
