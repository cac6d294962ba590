/* Domains of inputs: tuple number i of each kind, written column by column. Nothing is kept between calls. */
#include "evidence/proof/domain.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "runtime/graph/type.h"
#include "compiler/eval/float.h"
#include "evidence/proof/random.h"
#include "evidence/proof/values.h"

#define VARS_MAX 4u
#define LATTICE_PARTNERS2 16u /* of two operands: chosen values beside each of all values */
#define LATTICE_PARTNERS 4u   /* of three: beside each, for either of the others */
#define CHUNK 1024u

uint64_t pctl_proof_dtype_bytes(uint32_t dtype)
{
	return pctl_dtype_bytes(dtype);
}

const char *pctl_proof_dtype_name(uint32_t dtype)
{
	return pctl_dtype_name(dtype);
}

static int is_half(uint32_t dtype)
{
	return dtype == PCTL_SCALAR_F16 || dtype == PCTL_SCALAR_BF16;
}

static int is_integer(uint32_t dtype)
{
	return dtype == PCTL_SCALAR_U32 || dtype == PCTL_SCALAR_I32 || dtype == PCTL_SCALAR_U64 ||
	       dtype == PCTL_SCALAR_I64 || dtype == PCTL_DTYPE_U128;
}

uint32_t pctl_proof_from_f32(uint32_t bits, uint32_t dtype)
{
	const uint32_t fraction = dtype == PCTL_SCALAR_F16 ? 10 : 7;
	uint32_t payload = bits & 0x7fffffu;
	double value;
	uint64_t out;

	if (!is_half(dtype))
		return bits;
	if ((bits & 0x7fffffffu) > 0x7f800000u) {
		/* A payload of low bits alone must not become an infinity. */
		payload = payload >> (23 - fraction) != 0 ? payload >> (23 - fraction) : 1;
		return bits >> 31 << 15 | (uint32_t)(0x7fffu >> fraction << fraction) | payload;
	}
	(void)pctl_float_to_f64(PCTL_SCALAR_F32, bits, &value);
	(void)pctl_float_from_f64((uint8_t)dtype, value, &out);
	return (uint32_t)out;
}

/* How many of the n chosen values each of n_vars operands takes: products stay within a block. */
static uint64_t chosen(uint32_t n, uint32_t n_vars)
{
	for (;; n--) {
		uint64_t product = 1;

		for (uint32_t i = 0; i < n_vars; i++)
			product *= n;
		if (product <= PCTL_PROOF_BLOCK)
			return n;
	}
}

static uint64_t power(uint64_t base, uint32_t n)
{
	uint64_t out = 1;

	while (n-- > 0)
		out *= base;
	return out;
}

static uint64_t lattice_partners(uint32_t n_vars)
{
	return n_vars == 2 ? LATTICE_PARTNERS2 : power(LATTICE_PARTNERS, n_vars - 1);
}

static uint64_t count(const pctl_domain *d, uint64_t cases)
{
	uint8_t values[PCTL_VALUES_MAX][16];

	switch (d->kind) {
	case PCTL_DOMAIN_EXHAUSTIVE8:
		return is_integer(d->dtype) && d->n_vars <= 3 ? power(256, d->n_vars) : 0;
	case PCTL_DOMAIN_EXHAUSTIVE16:
		return d->n_vars == 1 && (is_half(d->dtype) || is_integer(d->dtype)) ? 65536 : 0;
	case PCTL_DOMAIN_LATTICE16:
		return is_half(d->dtype) && d->n_vars >= 2
			       ? 65536 * d->n_vars * lattice_partners(d->n_vars)
			       : 0;
	case PCTL_DOMAIN_PAIRS16:
		return is_half(d->dtype) && d->n_vars == 2 ? UINT64_C(1) << 32 : 0;
	case PCTL_DOMAIN_ADVERSARIAL:
		return power(chosen(pctl_proof_values(d->dtype, values), d->n_vars), d->n_vars);
	default:
		return cases;
	}
}

pctl_domain pctl_domain_make(uint32_t kind, uint32_t dtype, uint32_t n_vars, uint64_t seed,
			     uint64_t cases)
{
	pctl_domain d = {.kind = kind, .dtype = dtype, .n_vars = n_vars, .seed = seed};

	if (n_vars == 0)
		d.n_cases = kind == PCTL_DOMAIN_EXAMPLES;
	else if (n_vars <= VARS_MAX && pctl_proof_dtype_bytes(dtype) != 0)
		d.n_cases = count(&d, cases);
	return d;
}

/* ---- filling ---------------------------------------------------------------------------------- */

static void put(uint8_t *at, uint64_t n_bytes, uint64_t low, uint64_t high)
{
	for (uint64_t k = 0; k < n_bytes; k++)
		at[k] = (uint8_t)((k < 8 ? low >> (8 * k) : high >> (8 * (k - 8))) & 255);
}

static void fill_bytes(const pctl_domain *d, uint64_t first, uint64_t n, uint32_t var,
		       uint8_t *data)
{
	const uint64_t bytes = pctl_proof_dtype_bytes(d->dtype);
	const int is_signed = d->dtype == PCTL_SCALAR_I32 || d->dtype == PCTL_SCALAR_I64;

	for (uint64_t i = 0; i < n; i++) {
		uint64_t v = (first + i) >> (8 * var) & 255;

		if (is_signed && v > 127)
			v |= ~(uint64_t)255;
		put(data + i * bytes, bytes, v, 0);
	}
}

/* 65536 values by partners by places; of more than one partner the lower place counts faster. */
static void fill_lattice(const pctl_domain *d, uint64_t first, uint64_t n, uint32_t var,
			 uint8_t *data)
{
	const uint64_t partners = lattice_partners(d->n_vars);
	const uint64_t each = d->n_vars == 2 ? LATTICE_PARTNERS2 : LATTICE_PARTNERS;
	uint8_t values[PCTL_VALUES_MAX][16];

	(void)pctl_proof_values(d->dtype, values);
	for (uint64_t i = 0; i < n; i++) {
		const uint64_t number = first + i, row = number >> 16;
		const uint64_t place = row / partners;
		uint64_t partner = row % partners;

		if (place == var) {
			put(data + 2 * i, 2, number & 65535, 0);
			continue;
		}
		for (uint32_t k = var - (place < var); k > 0; k--)
			partner /= each;
		memcpy(data + 2 * i, values[partner % each], 2);
	}
}

static void fill_adversarial(const pctl_domain *d, uint64_t first, uint64_t n, uint32_t var,
			     uint8_t *data)
{
	const uint64_t bytes = pctl_proof_dtype_bytes(d->dtype);
	uint8_t values[PCTL_VALUES_MAX][16];
	const uint64_t each = chosen(pctl_proof_values(d->dtype, values), d->n_vars);
	const uint64_t step = power(each, var);

	for (uint64_t i = 0; i < n; i++)
		memcpy(data + i * bytes, values[(first + i) / step % each], bytes);
}

static void fill_examples(const pctl_domain *d, uint64_t first, uint64_t n, uint32_t var,
			  uint8_t *data)
{
	const uint64_t bytes = pctl_proof_dtype_bytes(d->dtype), plain = d->n_cases - d->n_kept;

	for (uint64_t i = 0; i < n; i++) {
		const uint64_t number = first + i;

		if (number >= plain)
			memcpy(data + i * bytes, d->kept[(number - plain) * d->n_vars + var],
			       bytes);
		else if (is_half(d->dtype))
			put(data + i * bytes, bytes,
			    pctl_proof_from_f32((uint32_t)d->examples[number]->in[var], d->dtype),
			    0);
		else
			put(data + i * bytes, bytes, d->examples[number]->in[var], 0);
	}
}

/* Bits of a float with an exponent near that of 1. */
static uint32_t middling(uint32_t dtype, uint32_t x)
{
	if (dtype == PCTL_SCALAR_F16)
		return (x & 0x83ffu) | (11 + (x >> 10 & 7)) << 10;
	if (dtype == PCTL_SCALAR_BF16)
		return (x & 0x807fu) | (111 + (x >> 7 & 31)) << 7;
	return (x & 0x807fffffu) | (111 + (x >> 23 & 31)) << 23;
}

/* Odd tuples have middling exponents. */
static void fill_random(const pctl_domain *d, uint64_t first, uint64_t n, uint32_t var,
			uint8_t *data)
{
	const uint64_t words = pctl_proof_dtype_bytes(d->dtype) / 4;
	uint32_t chunk[CHUNK];

	if (words != 0 && d->dtype != PCTL_SCALAR_F32) {
		pctl_proof_words(d->seed, var, first * words, n * words, (uint32_t *)(void *)data);
		return;
	}
	for (uint64_t at = 0; at < n; at += CHUNK) {
		const uint64_t now = n - at < CHUNK ? n - at : CHUNK;

		pctl_proof_words(d->seed, var, first + at, now, chunk);
		for (uint64_t i = 0; i < now; i++) {
			uint32_t x = words != 0 ? chunk[i] : chunk[i] >> 16;

			if ((first + at + i) % 2 != 0)
				x = middling(d->dtype, x);
			memcpy(data + (at + i) * (words != 0 ? 4 : 2), &x, words != 0 ? 4 : 2);
		}
	}
}

static void fill_words(const pctl_domain *d, uint64_t first, uint64_t n, uint32_t var,
		       uint8_t *data)
{
	const uint64_t bytes = pctl_proof_dtype_bytes(d->dtype);

	for (uint64_t i = 0; i < n; i++)
		put(data + i * bytes, bytes, (first + i) >> (16 * var) & 65535, 0);
}

void pctl_domain_fill(const pctl_domain *d, uint64_t first, uint64_t n, pctl_column *columns)
{
	for (uint32_t v = 0; v < d->n_vars; v++) {
		pctl_column *c = &columns[v];

		c->dtype = d->dtype;
		c->n = n;
		switch (d->kind) {
		case PCTL_DOMAIN_EXHAUSTIVE8:
			fill_bytes(d, first, n, v, c->data);
			break;
		case PCTL_DOMAIN_LATTICE16:
			fill_lattice(d, first, n, v, c->data);
			break;
		case PCTL_DOMAIN_EXAMPLES:
			fill_examples(d, first, n, v, c->data);
			break;
		case PCTL_DOMAIN_ADVERSARIAL:
			fill_adversarial(d, first, n, v, c->data);
			break;
		case PCTL_DOMAIN_RANDOM:
			fill_random(d, first, n, v, c->data);
			break;
		default:
			fill_words(d, first, n, v, c->data);
			break;
		}
	}
}

void pctl_domain_describe(const pctl_domain *d, char *out, size_t n)
{
	static const char *const words[] = {"nothing",
					    "8 bits exhaustive",
					    "16 bits exhaustive",
					    "16 bits against chosen",
					    "16 bits, all pairs",
					    "examples",
					    "chosen values",
					    "random"};
	char seed[40] = "";

	if (d->kind == PCTL_DOMAIN_RANDOM)
		snprintf(seed, sizeof(seed), ", seed %" PRIu64, d->seed);
	snprintf(out, n, "%s %s%s, %" PRIu64 " case%s", pctl_proof_dtype_name(d->dtype),
		 d->n_kept != 0 ? "kept counterexamples"
				: words[d->kind <= PCTL_DOMAIN_RANDOM ? d->kind : 0],
		 seed, d->n_cases, d->n_cases == 1 ? "" : "s");
}
