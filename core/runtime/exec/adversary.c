/* Implementation of adversary.h. Data is a function of the round, the binding and the element alone. */
#include "runtime/exec/adversary.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/legalize/contract.h"
#include "foundation/base/num.h"
#include "runtime/exec/readback.h"
#include "runtime/graph/kernel.h"
#include "pipectl/oplib.h"
#include "runtime/plugin/dispatch.h"
#include "foundation/base/hash.h"

#define ROUNDS 6u
#define HOSTILE \
	3u /* rounds of special values; in the others sums and loops come to an end worth comparing */
#define CONTRACT_ROUNDS 4u /* more, for the program under range contracts */
#define ELEMENTS 192u	   /* of a runtime array */
#define LARGEST_BINDING (1u << 20)
#define MOST_BINDINGS 64u
#define TIMEOUT_NS 120000000000ull

static uint64_t mix(uint64_t z)
{
	return pctl_mix64(z);
}

/* What a round's data is like. uniform: it goes into a uniform block; contract: it fulfils the range contract. */
typedef struct mood {
	uint32_t ordinary, uniform, contract;
} mood;

/* Bits of a float with e exponent and m mantissa bits: special values, neighbours of 1, subnormals, any bits. */
static uint32_t float_bits(uint64_t r, uint32_t e, uint32_t m)
{
	const uint32_t sign = (uint32_t)(r >> 63) << (e + m),
		       mantissa = (uint32_t)r & ((1u << m) - 1);
	const uint32_t top = (1u << e) - 1, one = top >> 1, small = (uint32_t)(r >> 40) & 7;

	switch (r >> 56 & 15) {
	case 0:
		return sign;
	case 1:
		return sign | top << m;
	case 2:
		return sign | top << m | mantissa | 1;
	case 3:
		return sign | mantissa; /* subnormal */
	case 4:
		return sign | 1u << m | (mantissa & 3);
	case 5:
		return sign | (top - 1) << m | mantissa;
	case 6:
		return sign | one << m;
	case 7:
	case 8:
		return (uint32_t)(r >> 8) & ((2u << (e + m)) - 1);
	case 9:
		return sign | (one / 2 + small) << m | mantissa;
	default:
		return sign | (one - 4 + small) << m | mantissa;
	}
}

/* Within a factor of 16 of 1, of either sign. */
static uint32_t ordinary_bits(uint64_t r, uint32_t e, uint32_t m)
{
	const uint32_t one = ((1u << e) - 1) >> 1;

	return (uint32_t)(r >> 63) << (e + m) | (one - 4 + ((uint32_t)(r >> 40) & 7)) << m |
	       ((uint32_t)r & ((1u << m) - 1));
}

/* An f32 within the range contract: zeros, its edges and their neighbours, few powers of two whose sums cancel, any. */
static uint32_t contract_bits(uint64_t r)
{
	const uint32_t sign = (uint32_t)(r >> 63) << 31, mantissa = (uint32_t)r & 0x7fffffu;
	const uint32_t least = PCTL_CONTRACT_LEAST_BITS, most = PCTL_CONTRACT_MOST_BITS;

	switch (r >> 56 & 15) {
	case 0:
		return sign;
	case 1:
	case 2:
		return sign | least;
	case 3:
	case 4:
		return sign | (least + 1 + (mantissa & 3));
	case 5:
		return sign | most;
	case 6:
		return sign | (most - 1 - (mantissa & 3));
	case 7:
	case 8:
		return sign | least | mantissa;
	case 9:
	case 10:
		return sign | (0x3f800000u + (mantissa & 3));
	default:
		return sign | (least + (uint32_t)((r >> 8 & 0xffffffffu) % (most - least)));
	}
}

static uint32_t integer_bits(uint64_t r, mood is)
{
	/* Uniforms are counts more often than not, and bound loops. */
	if (is.uniform)
		return 1 + (uint32_t)(is.ordinary ? r % ELEMENTS : r & 7);
	switch (r >> 60) {
	case 0:
	case 1:
		return (uint32_t)r;
	case 2:
	case 3:
		return float_bits(mix(r), 8, 23);
	default:
		return (uint32_t)(r & 63);
	}
}

static void fill_scalar(uint8_t scalar, uint64_t r, mood is, uint8_t *at)
{
	uint32_t (*const float_of)(uint64_t, uint32_t, uint32_t) =
		is.ordinary ? ordinary_bits : float_bits;
	const uint32_t n = pctl_scalar_bytes(scalar);
	uint64_t bits = integer_bits(r, is);

	if (scalar == PCTL_SCALAR_F32)
		bits = is.contract ? contract_bits(r) : float_of(r, 8, 23);
	else if (scalar == PCTL_SCALAR_F16)
		bits = float_of(r, 5, 10);
	else if (scalar == PCTL_SCALAR_BF16)
		bits = float_of(r, 8, 7);
	else if (scalar == PCTL_SCALAR_F64)
		bits = (uint64_t)float_of(r, 11, 20) << 32 | (r & 64 ? mix(r) & 0xffffffffu : 0);
	else if (scalar == PCTL_SCALAR_BOOL)
		bits = r & 1;
	memcpy(at, &bits, n < sizeof(bits) ? n : sizeof(bits));
}

/* Types nest no deeper than the format allows; padding stays zero. */
static void fill(const pctl_program *p, uint32_t type, uint64_t seed, mood is, uint8_t *at,
		 uint64_t n)
{
	const pctl_type *t = &p->types[type];
	uint64_t count = t->count;

	switch (t->kind) {
	case PCTL_TYPE_SCALAR:
	case PCTL_TYPE_ATOMIC:
		fill_scalar(t->scalar, mix(seed), is, at);
		return;
	case PCTL_TYPE_VECTOR:
		for (uint32_t i = 0; i < t->width; i++)
			fill_scalar(t->scalar, mix(seed + i), is,
				    at + i * pctl_scalar_bytes(t->scalar));
		return;
	case PCTL_TYPE_MATRIX:
		count = t->columns;
		break;
	case PCTL_TYPE_RUNTIME_ARRAY:
		count = n / t->stride;
		break;
	case PCTL_TYPE_STRUCT:
		for (uint32_t i = 0; i < t->count; i++) {
			const pctl_member *m = &p->members[t->first_member + i];

			fill(p, m->type, mix(seed + 31u * (i + 1)), is, at + m->offset,
			     n - m->offset);
		}
		return;
	default:
		break;
	}
	for (uint64_t i = 0; i < count; i++)
		fill(p, t->elem, mix(seed + i * 0x9e3779b97f4a7c15u), is, at + i * t->stride,
		     t->stride);
}

/* No uniform above its declared maximum: proofs rest on it. */
static void keep_maxima(const pctl_program *p, uint32_t var, uint8_t *at)
{
	for (uint32_t i = 0; i < p->n_maxima; i++) {
		const pctl_max *max = &p->maxima[i];
		uint64_t offset;
		uint32_t value, n;

		if (max->var != var || !pctl_kernel_max_place(p, max, &offset, &n) || n != 4)
			continue;
		memcpy(&value, at + offset, sizeof(value));
		if (value > max->value)
			value = (uint32_t)max->value;
		memcpy(at + offset, &value, sizeof(value));
	}
}

/* Bytes to bind to a variable: its size, a runtime array at its end with ELEMENTS elements. */
static uint64_t bytes_of(const pctl_program *p, uint32_t type)
{
	const pctl_type *t = &p->types[type];
	uint64_t n = t->size;

	if (t->kind == PCTL_TYPE_RUNTIME_ARRAY)
		n = (uint64_t)t->stride * ELEMENTS;
	if (t->kind == PCTL_TYPE_STRUCT && t->size == 0) {
		const pctl_member *last = &p->members[t->first_member + t->count - 1];

		n = last->offset + bytes_of(p, last->type);
	}
	return pctl_num_align(n, 16);
}

static int is_bound(const pctl_var *v)
{
	return v->space == PCTL_SPACE_STORAGE || v->space == PCTL_SPACE_UNIFORM;
}

int pctl_adversary_applies(const pctl_kernel_module *unit)
{
	const pctl_program *p = unit->program;
	uint32_t n = 0;

	if (unit->analysis->determinism != PCTL_CLASS_STRICT ||
	    unit->analysis->race != PCTL_PROOF_PROVEN)
		return 0;
	for (uint32_t i = 0; i < p->n_vars; i++) {
		if (!is_bound(&p->vars[i]))
			continue;
		if (bytes_of(p, p->vars[i].type) > LARGEST_BINDING || ++n > MOST_BINDINGS)
			return 0;
	}
	return 1;
}

/* One round on one device: data[i] goes up, and comes back for what is writable. kernel NULL: as the session has it. */
static pctl_status dispatch(pctl_session *s, const pctl_kernel_module *unit, pctl_kernel *kernel,
			    const uint32_t groups[3], uint8_t *const *data, const uint64_t *sizes,
			    const pctl_call *call)
{
	const pctl_backend *table = pctl_session_table(s);
	pctl_device *dev = pctl_session_device(s);
	const pctl_program *p = unit->program;
	pctl_binding bindings[MOST_BINDINGS];
	pctl_completion done;
	uint32_t n = 0;
	pctl_status status = kernel != NULL ? PCTL_OK : pctl_session_kernel(s, unit, call, &kernel);

	for (uint32_t i = 0; i < p->n_vars && status == PCTL_OK && is_bound(&p->vars[i]); i++) {
		const pctl_var *v = &p->vars[i];
		const uint32_t use =
			v->space == PCTL_SPACE_UNIFORM ? PCTL_BUFFER_UNIFORM : PCTL_BUFFER_STORAGE;

		bindings[n] = (pctl_binding){v->group, v->binding, NULL, 0, sizes[i]};
		status = table->buffer_create(dev, call, sizes[i], use | PCTL_BUFFER_TRANSFER,
					      &bindings[n].buffer);
		if (status != PCTL_OK)
			break;
		n++;
		status = table->buffer_write(dev, call, bindings[n - 1].buffer, 0, data[i],
					     sizes[i]);
	}
	if (status == PCTL_OK)
		status = pctl_dispatch_once(table, dev, call, kernel, bindings, n, groups,
					    TIMEOUT_NS, &done);
	if (status == PCTL_OK && !done.done)
		status = pctl_refuse(call, PC5217_ADVERSARY_TIME, "kernel %s on %s", unit->name,
				     pctl_session_name(s));
	for (uint32_t i = 0; i < n && status == PCTL_OK; i++) {
		if (!(p->vars[i].access & PCTL_ACCESS_WRITE))
			continue;
		/* what was uploaded is often right, and is gone then */
		status = pctl_readback_fill(s, call, bindings[i].buffer, 0, data[i], sizes[i]);
	}
	for (uint32_t i = 0; i < n; i++)
		table->buffer_destroy(dev, bindings[i].buffer);
	return status;
}

static int same(const pctl_kernel_module *unit, uint8_t *const *ours, uint8_t *const *theirs,
		const uint64_t *sizes, char cause[256])
{
	const pctl_program *p = unit->program;

	for (uint32_t i = 0; i < p->n_vars && is_bound(&p->vars[i]); i++) {
		for (uint64_t at = 0; at < sizes[i]; at += 4) {
			uint32_t a, b;

			memcpy(&a, ours[i] + at, 4);
			memcpy(&b, theirs[i] + at, 4);
			if (a == b)
				continue;
			snprintf(cause, 256,
				 "kernel %.80s gave 0x%08" PRIx32 " at byte %" PRIu64
				 " of \"%.60s\", the reference "
				 "0x%08" PRIx32,
				 unit->name, a, at, pctl_str(p, p->vars[i].name), b);
			return 0;
		}
	}
	return 1;
}

/* A check under way. */
struct trial {
	pctl_session *s, *reference;
	const pctl_kernel_module *unit;
	uint32_t groups[3];
	uint8_t *data[2][MOST_BINDINGS], *has_contract; /* by variable */
	uint64_t sizes[MOST_BINDINGS];
	uint32_t n;
};

static pctl_status make_data(struct trial *t, const pctl_call *call)
{
	const pctl_program *p = t->unit->program;

	t->has_contract = calloc(p->n_vars + 1u, 1);
	if (t->has_contract == NULL)
		return pctl_refuse(call, PC2_NOMEM, "no memory to check a kernel");
	pctl_contract_vars(p, t->has_contract);
	for (; t->n < p->n_vars && t->n < MOST_BINDINGS && is_bound(&p->vars[t->n]); t->n++) {
		t->sizes[t->n] = bytes_of(p, p->vars[t->n].type);
		for (int side = 0; side < 2; side++) {
			t->data[side][t->n] = calloc(1, t->sizes[t->n]);
			if (t->data[side][t->n] == NULL)
				return pctl_refuse(call, PC2_NOMEM, "no memory to check a kernel");
		}
	}
	return PCTL_OK;
}

static void drop_data(struct trial *t)
{
	for (uint32_t i = 0; i < MOST_BINDINGS; i++) {
		free(t->data[0][i]);
		free(t->data[1][i]);
	}
	free(t->has_contract);
}

/* One round, of the program under range contracts where `kernel` is that. */
static pctl_status run_round(struct trial *t, uint32_t round, pctl_kernel *kernel,
			     const pctl_call *call, int *agreed, char cause[256])
{
	const pctl_program *p = t->unit->program;
	pctl_status status;

	for (uint32_t i = 0; i < t->n; i++) {
		const mood is = {round >= HOSTILE, p->vars[i].space == PCTL_SPACE_UNIFORM,
				 kernel != NULL && t->has_contract[i]};

		memset(t->data[0][i], 0, t->sizes[i]);
		fill(p, p->vars[i].type, mix(round * 1000u + i), is, t->data[0][i], t->sizes[i]);
		keep_maxima(p, i, t->data[0][i]);
		memcpy(t->data[1][i], t->data[0][i], t->sizes[i]);
	}
	status = dispatch(t->s, t->unit, kernel, t->groups, t->data[0], t->sizes, call);
	if (status == PCTL_OK)
		status = dispatch(t->reference, t->unit, NULL, t->groups, t->data[1], t->sizes,
				  call);
	if (status == PCTL_OK)
		*agreed = same(t->unit, t->data[0], t->data[1], t->sizes, cause);
	return status;
}

pctl_status pctl_adversary_run(pctl_session *s, pctl_session *reference,
			       const pctl_kernel_module *unit, const uint32_t groups[3],
			       const pctl_call *call, int *agreed, char cause[256])
{
	struct trial t = {.s = s, .reference = reference, .unit = unit};
	pctl_kernel *contract = NULL;
	pctl_status status;

	*agreed = 1;
	for (int i = 0; i < 3; i++)
		t.groups[i] = groups[i] < 2 ? groups[i] : 2;
	status = make_data(&t, call);
	for (uint32_t round = 0; round < ROUNDS && status == PCTL_OK && *agreed; round++)
		status = run_round(&t, round, NULL, call, agreed, cause);
	if (status == PCTL_OK && *agreed)
		status = pctl_session_contract_kernel(s, unit, call, &contract);
	for (uint32_t round = 0;
	     contract != NULL && round < CONTRACT_ROUNDS && status == PCTL_OK && *agreed; round++)
		status = run_round(&t, ROUNDS + round, contract, call, agreed, cause);
	drop_data(&t);
	return status;
}

/* ---- what follows from it ------------------------------------------------------------------ */

/* The program under range contracts that a unit has on a session, where it has one: its check is noted by itself, so that a
 * stronger proof is not taken for a checked one. */
static pctl_status contract_is_due(pctl_profiles *profiles, const pctl_profile_record *profile,
				   pctl_session *s, const pctl_kernel_module *unit,
				   const pctl_call *call, int *due)
{
	pctl_cid cid;
	const pctl_status status = pctl_session_contract_cid(s, unit, call, &cid, due);

	*due = status == PCTL_OK && *due && !pctl_profiles_was_checked(profiles, profile, &cid);
	return status;
}

pctl_status pctl_adversary_is_due(pctl_profiles *profiles, const pctl_profile_record *profile,
				  pctl_session *s, const pctl_kernel_module *unit,
				  const pctl_call *call, int *due)
{
	*due = pctl_adversary_applies(unit);
	if (!*due || !pctl_profiles_was_checked(profiles, profile, &unit->cid))
		return PCTL_OK;
	return contract_is_due(profiles, profile, s, unit, call, due);
}

static void note_checked(pctl_profiles *profiles, const pctl_profile_record *profile,
			 pctl_session *s, const pctl_kernel_module *unit, const pctl_call *call)
{
	pctl_cid cid;
	int is;

	pctl_profiles_note_checked(profiles, profile, &unit->cid);
	if (pctl_session_contract_cid(s, unit, call, &cid, &is) == PCTL_OK && is)
		pctl_profiles_note_checked(profiles, profile, &cid);
}

pctl_status pctl_adversary_judge(pctl_profiles *profiles, const pctl_profile_record *profile,
				 pctl_session *s, pctl_session *reference,
				 const pctl_kernel_module *unit, const uint32_t groups[3],
				 const char *job, const pctl_call *call)
{
	pctl_call traced = *call;
	pctl_status status, revoked;
	char cause[256];
	int agreed = 1;

	/* Built as the job will have it, but no round of its work. */
	traced.trace_id = pctl_trace(job, PCTL_TRACE_ROUND_MAX, 0);
	status = pctl_adversary_run(s, reference, unit, groups, &traced, &agreed, cause);
	if (status != PCTL_OK)
		return status;
	if (agreed) {
		note_checked(profiles, profile, s, unit, call);
		return PCTL_OK;
	}
	revoked = pctl_profiles_revoke(profiles, profile, cause, call);
	status = pctl_refuse(call, PC5216_ADVERSARY, "%s: %s", pctl_session_name(s), cause);
	return revoked == PCTL_OK ? status : revoked;
}
