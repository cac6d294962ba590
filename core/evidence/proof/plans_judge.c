/* Judging one problem: parity with reference() or a law, and making a problem that fails small. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/graph/type.h"
#include "evidence/proof/plans.h"

#define TRIES_MOST 600u	    /* runs that shrinking may take */
#define SIMPLE_ELEMENTS 64u /* values are made simple in inputs of no more elements */

static pctl_status take_bytes(pctl_hasher *hash, const pctl_answer *a)
{
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; hash != NULL && i < a->n_out && status == PCTL_OK; i++)
		status = pctl_hasher_update(hash, a->data[i], a->bytes[i]);
	return status;
}

/* A library that says falsely along what its ops can be cut gives a device with small bindings other bytes. */
static pctl_status judge_parts(const pctl_plan_judge *j, const pctl_problem *p,
			       const pctl_answer *want, const pctl_call *call, pctl_verdict *out)
{
	pctl_answer got;
	pctl_status status = j->parts->solve(j->parts->ctx, p, call, &got);

	if (status == PCTL_OK && (got.refused || got.n_out != 0) &&
	    pctl_answer_differs(p, &got, want, out))
		snprintf(out->text, sizeof(out->text), "cut into parts");
	pctl_answer_clear(&got);
	return status;
}

pctl_status pctl_plan_judge_problem(const pctl_plan_judge *j, const pctl_problem *p,
				    pctl_hasher *hash, const pctl_call *call, pctl_verdict *out)
{
	pctl_answer got, want = {.n_out = 0};
	pctl_status status = j->device->solve(j->device->ctx, p, call, &got);

	memset(out, 0, sizeof(*out));
	if (status == PCTL_OK)
		status = take_bytes(hash, &got);
	if (status == PCTL_OK && got.touched[0] != '\0') {
		out->failed = 1;
		snprintf(out->got, sizeof(out->got), "%s", got.touched);
		snprintf(out->want, sizeof(out->want), "what the host wrote");
	} else if (status == PCTL_OK && j->law != NULL) {
		if (got.refused)
			out->skipped = 1;
		else
			status = pctl_plan_law_check(j, p, &got, call, out);
	} else if (status == PCTL_OK) {
		status = j->reference->solve(j->reference->ctx, p, call, &want);
		if (status == PCTL_OK)
			(void)pctl_answer_differs(p, &got, &want, out);
		if (status == PCTL_OK && !out->failed && !got.refused && j->parts != NULL)
			status = judge_parts(j, p, &want, call, out);
	}
	pctl_answer_clear(&got);
	pctl_answer_clear(&want);
	return status;
}

/* ---- shrinking ------------------------------------------------------------------------------ */

typedef struct shrinking {
	const pctl_plan_judge *judge;
	const pctl_call *call;
	pctl_problem *p;
	uint32_t tries;
} shrinking;

/* Does it still fail? An internal failure counts as no. */
static int fails(shrinking *s, const pctl_problem *p)
{
	pctl_verdict v;

	if (s->tries == 0 || !pctl_problem_valid(p))
		return 0;
	s->tries--;
	return pctl_plan_judge_problem(s->judge, p, NULL, s->call, &v) == PCTL_OK && v.failed;
}

static int keep_if_failing(shrinking *s, pctl_problem *candidate)
{
	const int kept = fails(s, candidate);

	if (kept) {
		pctl_problem_clear(s->p);
		*s->p = *candidate;
	} else {
		pctl_problem_clear(candidate);
	}
	return kept;
}

/* Port `port` without rows first .. first + n - 1 of its leading dimension. */
static pctl_status cut_port(const pctl_problem *p, uint32_t port, uint64_t first, uint64_t n,
			    const pctl_call *call, pctl_problem *out)
{
	pctl_tensor_type t = p->in[port];
	const uint64_t row = t.dim[0] == 0 ? 0 : p->bytes[port] / t.dim[0];
	pctl_status status;

	t.dim[0] -= n;
	status = pctl_problem_port(out, port, &t, call);
	if (status != PCTL_OK)
		return status;
	memcpy(out->data[port], p->data[port], first * row);
	memcpy(out->data[port] + first * row, p->data[port] + (first + n) * row,
	       (p->in[port].dim[0] - first - n) * row);
	return PCTL_OK;
}

/* Rows of all ports whose leading dimension is that of the first; 1 when it still fails without them. */
static int try_without(shrinking *s, uint64_t first, uint64_t n)
{
	const uint64_t lead = s->p->in[0].dim[0];
	pctl_status status;
	pctl_problem c;

	if (s->p->rigid)
		return 0;
	status = pctl_problem_copy(s->p, s->call, &c);
	for (uint32_t i = 0; i < s->p->n_in && status == PCTL_OK; i++)
		if (s->p->in[i].rank > 0 && s->p->in[i].dim[0] == lead)
			status = cut_port(s->p, i, first, n, s->call, &c);
	/* What was known of the data is known no more: it is measured. */
	c.size = UINT64_MAX;
	if (status != PCTL_OK) {
		pctl_problem_clear(&c);
		return 0;
	}
	return keep_if_failing(s, &c);
}

/* Larger pieces first; 1 when one row less never fails, or there are none. */
static int drop_rows(shrinking *s)
{
	if (s->p->n_in == 0 || s->p->in[0].rank == 0)
		return 1;
	for (uint64_t piece = s->p->in[0].dim[0]; piece > 0;
	     piece = piece == 1 ? 0 : (piece + 1) / 2) {
		int dropped = 0;

		for (uint64_t at = 0; at + piece <= s->p->in[0].dim[0];) {
			if (try_without(s, at, piece))
				dropped = 1;
			else
				at += piece;
		}
		if (dropped && piece == 1)
			piece = 2; /* once more with single rows */
	}
	return s->tries > 0;
}

static int try_value(shrinking *s, uint32_t port, uint64_t at, uint32_t bytes, uint64_t value)
{
	uint64_t now = 0;
	pctl_problem c;

	memcpy(&now, s->p->data[port] + at, bytes < 8 ? bytes : 8);
	if (now == value || pctl_problem_copy(s->p, s->call, &c) != PCTL_OK)
		return now == value;
	c.size = UINT64_MAX;
	memset(c.data[port] + at, 0, bytes);
	memcpy(c.data[port] + at, &value, bytes < 8 ? bytes : 8);
	return keep_if_failing(s, &c);
}

static uint64_t one_of(uint32_t dtype)
{
	return dtype == PCTL_SCALAR_F32	   ? 0x3f800000u
	       : dtype == PCTL_SCALAR_F16  ? 0x3c00u
	       : dtype == PCTL_SCALAR_BF16 ? 0x3f80u
	       : dtype == PCTL_SCALAR_F64  ? 0x3ff0000000000000u
					   : 1u;
}

/* Zero, else one, else its upper bits gone. */
static void simplify(shrinking *s)
{
	for (uint32_t port = 0; port < s->p->n_in; port++) {
		const uint32_t dtype = s->p->in[port].dtype, bytes = pctl_dtype_bytes(dtype);

		if (bytes == 0 || bytes > 16 || s->p->bytes[port] / bytes > SIMPLE_ELEMENTS ||
		    s->p->rigid)
			continue;
		for (uint64_t at = 0; at < s->p->bytes[port]; at += bytes) {
			uint64_t v = 0;

			if (try_value(s, port, at, bytes, 0) ||
			    try_value(s, port, at, bytes, one_of(dtype)))
				continue;
			memcpy(&v, s->p->data[port] + at, bytes < 8 ? bytes : 8);
			for (uint32_t bit = bytes < 8 ? 8 * bytes : 64; bit > 0; bit--)
				if (v >> (bit - 1) & 1 &&
				    try_value(s, port, at, bytes, v & ~(1ull << (bit - 1))))
					v &= ~(1ull << (bit - 1));
		}
	}
}

pctl_status pctl_judge_shrink(const pctl_plan_judge *j, pctl_problem *p, const pctl_call *call,
			      uint32_t *minimal)
{
	shrinking s = {j, call, p, TRIES_MOST};

	*minimal = 0;
	if (drop_rows(&s)) {
		simplify(&s);
		*minimal = s.tries > 0 && drop_rows(&s);
	}
	return pctl_is_cancelled(call) ? PCTL_E_CANCELLED : PCTL_OK;
}
