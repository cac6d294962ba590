/* The bytes of a uniform block to its CBOR document. What no document gives is found by decoding what was written and
 * comparing: padding, above all. */
#include "chain/messages/uniform_walk.h"

#include <stdlib.h>
#include <string.h>

#include "chain/messages/cbor_item.h"
#include "foundation/base/bytes.h"

typedef struct encoder {
	uniform_walk w;
	pctl_str_buf out;
} encoder;

static pctl_status value(encoder *e, uint32_t type, uint64_t at);

static uint64_t load(const encoder *e, uint64_t at, uint32_t n)
{
	return pctl_le_get(e->w.block + at, n);
}

static pctl_status floating(encoder *e, const pctl_type *t, uint64_t at)
{
	uint32_t bits = (uint32_t)load(e, at, pctl_scalar_bytes(t->scalar));
	uint32_t nan = PCTL_CBOR_NAN;

	if (t->scalar == PCTL_SCALAR_F16) {
		nan = pctl_cbor_half_bits(0x7e00u);
		bits = pctl_cbor_half_bits((uint16_t)bits);
	} else if (t->scalar == PCTL_SCALAR_BF16) {
		bits <<= 16;
	}
	if ((bits & 0x7fffffffu) > 0x7f800000u && bits != nan)
		return pctl_uniform_refuse(&e->w, PC5776_UNIFORM_BLOCK, SIZE_MAX, NULL,
					   "a NaN other than the canonical one");
	pctl_cbor_put_float(&e->out, bits);
	return PCTL_OK;
}

static pctl_status scalar(encoder *e, const pctl_type *t, uint64_t at)
{
	const uint32_t bits = pctl_scalar_bits(t->scalar), n = pctl_scalar_bytes(t->scalar);
	uint64_t v = load(e, at, n);

	if (t->scalar == PCTL_SCALAR_F16 || t->scalar == PCTL_SCALAR_F32 ||
	    t->scalar == PCTL_SCALAR_BF16)
		return floating(e, t, at);
	if (t->scalar == PCTL_SCALAR_BOOL) {
		if (v > 1)
			return pctl_uniform_refuse(&e->w, PC5776_UNIFORM_BLOCK, SIZE_MAX, NULL,
						   "a bool is 0 or 1, not %u", (uint32_t)v);
		pctl_cbor_put_bool(&e->out, (int)v);
		return PCTL_OK;
	}
	if (pctl_scalar_is_signed(t->scalar) && (v >> (bits - 1)) != 0) {
		v |= bits == 64 ? 0 : UINT64_MAX << bits;
		pctl_cbor_put_negative(&e->out, ~v);
	} else {
		pctl_cbor_put_unsigned(&e->out, v);
	}
	return PCTL_OK;
}

static int key_less(const char *a, const char *b)
{
	const size_t m = strlen(a), n = strlen(b);

	return m != n ? m < n : memcmp(a, b, m) < 0;
}

/* The member with the least key above `after`; count when there is none. */
static uint32_t next_member(const pctl_program *p, const pctl_type *t, const char *after)
{
	uint32_t best = t->count;

	for (uint32_t i = 0; i < t->count; i++) {
		const char *name = pctl_str(p, p->members[t->first_member + i].name);

		if (after != NULL && !key_less(after, name))
			continue;
		if (best == t->count ||
		    key_less(name, pctl_str(p, p->members[t->first_member + best].name)))
			best = i;
	}
	return best;
}

static pctl_status members(encoder *e, const pctl_type *t, uint64_t at)
{
	const pctl_program *p = e->w.p;
	const char *name = NULL;
	pctl_status status = PCTL_OK;

	pctl_cbor_put_map(&e->out, t->count);
	for (uint32_t k = 0; k < t->count && status == PCTL_OK; k++) {
		const uint32_t i = next_member(p, t, name);
		const pctl_member *m;
		size_t before;

		if (i == t->count)
			return pctl_uniform_refuse(&e->w, PC5760_UNIFORM_DECLARED, SIZE_MAX, NULL,
						   "two members of one name");
		m = &p->members[t->first_member + i];
		name = pctl_str(p, m->name);
		pctl_cbor_put_text(&e->out, name, strlen(name));
		before = pctl_uniform_into_member(&e->w, name);
		status = value(e, m->type, at + m->offset);
		pctl_uniform_back(&e->w, before);
	}
	return status;
}

static pctl_status value(encoder *e, uint32_t type, uint64_t at)
{
	const pctl_type *t = &e->w.p->types[type];
	pctl_status status = pctl_uniform_enter(&e->w, t);
	uint32_t n;

	if (status != PCTL_OK)
		return status;
	if (t->kind == PCTL_TYPE_SCALAR)
		return scalar(e, t, at);
	if (t->kind == PCTL_TYPE_STRUCT)
		return members(e, t, at);
	n = pctl_uniform_parts(t);
	pctl_cbor_put_array(&e->out, n);
	for (uint32_t i = 0; i < n && status == PCTL_OK; i++) {
		const size_t before = pctl_uniform_into_part(&e->w, t, i);

		status = value(e, t->elem, at + pctl_type_part_offset(e->w.p, type, i));
		pctl_uniform_back(&e->w, before);
	}
	return status;
}

/* The block again, from what was written. */
static pctl_status compare(const encoder *e, uint64_t n)
{
	uint8_t *again;
	uint64_t n_again, at = 0;
	pctl_status status =
		pctl_uniform_decode(e->w.p, e->out.data, e->out.n, e->w.call, &again, &n_again);

	if (status != PCTL_OK)
		return status;
	while (at < n && again[at] == e->w.block[at])
		at++;
	free(again);
	return at == n ? PCTL_OK
		       : pctl_uniform_refuse(&e->w, PC5776_UNIFORM_BLOCK, SIZE_MAX, NULL,
					     "padding byte %llu is not zero",
					     (unsigned long long)at);
}

pctl_status pctl_uniform_encode(const pctl_program *p, const void *block, uint64_t n,
				const pctl_call *call, uint8_t **out, uint64_t *n_out)
{
	encoder e = {.w = {.p = p, .call = call}, .out = PCTL_STR_BUF_INIT};
	uint32_t type;
	pctl_status status = pctl_uniform_type(p, call, &type);

	*out = NULL;
	*n_out = 0;
	if (status != PCTL_OK)
		return status;
	if (n != p->types[type].size)
		return pctl_refuse(call, PC5776_UNIFORM_BLOCK,
				   "a uniform block of %llu bytes, the struct has %u",
				   (unsigned long long)n, p->types[type].size);
	e.w.block = malloc((size_t)n + 1);
	if (e.w.block == NULL)
		return pctl_no_memory(call, "a uniform block");
	memcpy(e.w.block, block, (size_t)n);
	status = value(&e, type, 0);
	if (status == PCTL_OK && e.out.failed)
		status = pctl_no_memory(call, "a uniform document");
	if (status == PCTL_OK)
		status = compare(&e, n);
	if (status == PCTL_OK) {
		*n_out = e.out.n;
		*out = (uint8_t *)pctl_str_finish(&e.out);
	} else {
		pctl_str_drop(&e.out);
	}
	free(e.w.block);
	return status;
}
