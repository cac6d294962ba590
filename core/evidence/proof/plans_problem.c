/* One problem of a plan op and its answer: memory, attributes, and how both read in a message. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "runtime/graph/type.h"
#include "evidence/proof/plans.h"
#include "foundation/base/hex.h"
#include "runtime/graph/broadcast.h"

void pctl_problem_clear(pctl_problem *p)
{
	for (uint32_t i = 0; i < PCTL_PORTS_MAX; i++)
		free(p->data[i]);
	memset(p->data, 0, sizeof(p->data));
}

void pctl_answer_clear(pctl_answer *a)
{
	for (uint32_t i = 0; i < PCTL_PORTS_MAX; i++)
		free(a->data[i]);
	memset(a, 0, sizeof(*a));
}

pctl_status pctl_problem_port(pctl_problem *p, uint32_t port, const pctl_tensor_type *t,
			      const pctl_call *call)
{
	uint64_t bytes;

	if (!pctl_type_bytes(t, &bytes) || bytes > UINT64_MAX - 32)
		return pctl_no_memory(call, "a problem of a plan op");
	free(p->data[port]);
	p->data[port] = calloc(1, pctl_num_align(bytes, 16) + 16);
	p->in[port] = *t;
	p->bytes[port] = bytes;
	return p->data[port] == NULL ? pctl_no_memory(call, "a problem of a plan op") : PCTL_OK;
}

pctl_status pctl_problem_copy(const pctl_problem *p, const pctl_call *call, pctl_problem *out)
{
	pctl_status status = PCTL_OK;

	*out = *p;
	memset(out->data, 0, sizeof(out->data));
	for (uint32_t i = 0; i < p->n_in && status == PCTL_OK; i++) {
		status = pctl_problem_port(out, i, &p->in[i], call);
		if (status == PCTL_OK)
			memcpy(out->data[i], p->data[i], p->bytes[i]);
	}
	if (status != PCTL_OK)
		pctl_problem_clear(out);
	return status;
}

void pctl_problem_set(pctl_problem *p, uint32_t i, const char *text)
{
	if (i < PCTL_ATTRS_MAX)
		snprintf(p->text[i], sizeof(p->text[i]), "%s", text == NULL ? "" : text);
}

const char *pctl_problem_attr(const pctl_problem *p, const char *name)
{
	for (uint32_t i = 0; i < p->n_attr; i++)
		if (strcmp(p->op.desc->attr[i].name, name) == 0)
			return p->text[i];
	return "";
}

static uint64_t attr_number(uint32_t kind, const char *text)
{
	uint64_t u64 = 0;
	int64_t i64 = 0;

	if (kind == PCTL_ATTR_BOOL)
		return strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
	if (kind == PCTL_ATTR_U64)
		(void)pctl_num_parse_u64(text, strlen(text), &u64);
	else if (kind == PCTL_ATTR_I64 && pctl_num_parse_i64(text, strlen(text), &i64))
		u64 = (uint64_t)i64;
	return u64;
}

pctl_op_query pctl_problem_query(const pctl_problem *p, pctl_attr attr[PCTL_ATTRS_MAX],
				 const pctl_attr *measured, uint32_t n_measured)
{
	for (uint32_t i = 0; i < p->n_attr; i++) {
		const pctl_attr_desc *d = &p->op.desc->attr[i];

		attr[i] = (pctl_attr){d->name, p->text[i], attr_number(d->kind, p->text[i])};
	}
	return (pctl_op_query){PCTL_HEAD(pctl_op_query),
			       p->op.index,
			       p->n_in,
			       p->in,
			       attr,
			       p->n_attr,
			       n_measured,
			       measured};
}

int pctl_problem_valid(const pctl_problem *p)
{
	pctl_op_result result = {.head = PCTL_HEAD(pctl_op_result)};
	pctl_attr attr[PCTL_ATTRS_MAX];
	const pctl_op_query q = pctl_problem_query(p, attr, NULL, 0);

	/* As anywhere, operands of function ops may be stretched. */
	return pctl_op_infer(&p->op, &q, "", NULL, NULL, &result) == PCTL_OK;
}

uint64_t pctl_problem_elements(const pctl_problem *p)
{
	uint64_t n = 0;

	if (p->n_in > 0)
		(void)pctl_type_elements(&p->in[0], &n);
	return n;
}

/* Text that fits; what does not is left out, "..." says so. */
typedef struct writer {
	char *out;
	size_t n, at;
} writer;

static void put(writer *w, const char *text)
{
	const size_t n = strlen(text);

	if (w->at + n + 4 >= w->n) {
		if (w->at + 4 < w->n)
			memcpy(w->out + w->at, "...", 4);
		w->n = w->at; /* closed */
		return;
	}
	memcpy(w->out + w->at, text, n + 1);
	w->at += n;
}

static void put_element(writer *w, const uint8_t *at, uint32_t bytes)
{
	char text[40];
	int n = snprintf(text, sizeof(text), " ");

	pctl_hex_print_number(at, bytes, text + n);
	put(w, text);
}

void pctl_problem_describe(const pctl_problem *p, char *out, size_t n)
{
	pctl_arena *arena = pctl_arena_create();
	writer w = {out, n, 0};
	char text[160];

	out[0] = '\0';
	for (uint32_t i = 0; i < p->n_attr; i++) {
		snprintf(text, sizeof(text), "%s=%s ", p->op.desc->attr[i].name, p->text[i]);
		put(&w, text);
	}
	for (uint32_t i = 0; i < p->n_in; i++) {
		const uint32_t bytes = pctl_dtype_bytes(p->in[i].dtype);
		const char *type = arena == NULL ? NULL : pctl_type_text(arena, &p->in[i]);

		snprintf(text, sizeof(text), "%s%.60s=%.60s", i == 0 ? "" : " ",
			 pctl_op_input(p->op.desc, i)->name, type == NULL ? "?" : type);
		put(&w, text);
		for (uint64_t k = 0;
		     bytes != 0 && bytes <= 16 && k + bytes <= p->bytes[i] && w.at < w.n;
		     k += bytes)
			put_element(&w, p->data[i] + k, bytes);
	}
	pctl_arena_destroy(arena);
}

pctl_status pctl_problem_other(const pctl_op_source *ops, const char *name, uint32_t version,
			       const pctl_call *call, pctl_problem *out)
{
	pctl_status status;

	*out = (pctl_problem){.size = UINT64_MAX};
	status = pctl_op_find(ops, name, version, version, NULL, call, &out->op);
	if (status != PCTL_OK)
		return status;
	out->n_in = out->op.desc->n_in;
	out->n_attr = out->op.desc->n_attr < PCTL_ATTRS_MAX ? out->op.desc->n_attr : PCTL_ATTRS_MAX;
	for (uint32_t i = 0; i < out->n_attr; i++)
		pctl_problem_set(out, i, out->op.desc->attr[i].default_text);
	return PCTL_OK;
}

static void element_text(const uint8_t *data, uint64_t bytes, uint64_t at, uint32_t size, char *out,
			 size_t n)
{
	int k = snprintf(out, n, "0x");

	for (uint32_t i = size; i > 0; i--)
		if (at + i <= bytes)
			k += snprintf(out + k, n - (size_t)k, "%02x", data[at + i - 1]);
}

int pctl_bytes_differ(const char *name, uint32_t dtype, const pctl_span *got, const pctl_span *want,
		      pctl_verdict *out)
{
	const uint32_t bytes = pctl_dtype_bytes(dtype), size = bytes == 0 ? 1 : bytes;
	const uint8_t *x = got->data, *y = want->data;
	char a[40], b[40];
	uint64_t at = 0;

	if (got->n_bytes != want->n_bytes) {
		snprintf(out->got, sizeof(out->got), "%.60s of %" PRIu64 " bytes", name,
			 got->n_bytes);
		snprintf(out->want, sizeof(out->want), "%.60s of %" PRIu64 " bytes", name,
			 want->n_bytes);
		return (int)(out->failed = 1);
	}
	if (got->n_bytes == 0 || memcmp(x, y, got->n_bytes) == 0)
		return 0;
	while (x[at] == y[at])
		at++;
	at -= at % size;
	element_text(x, got->n_bytes, at, size, a, sizeof(a));
	element_text(y, want->n_bytes, at, size, b, sizeof(b));
	snprintf(out->got, sizeof(out->got), "%.40s[%" PRIu64 "] = %s", name, at / size, a);
	snprintf(out->want, sizeof(out->want), "%.40s[%" PRIu64 "] = %s", name, at / size, b);
	return (int)(out->failed = 1);
}

int pctl_answer_differs(const pctl_problem *p, const pctl_answer *got, const pctl_answer *want,
			pctl_verdict *out)
{
	const pctl_op_desc *d = p->op.desc;

	if (got->refused != want->refused || got->n_out != want->n_out) {
		out->failed = 1;
		snprintf(out->got, sizeof(out->got), "%s", got->refused ? "refused" : "an answer");
		snprintf(out->want, sizeof(out->want), "%s",
			 want->refused ? "refused" : "an answer");
		return 1;
	}
	for (uint32_t i = 0; i < got->n_out; i++) {
		const pctl_span a = {got->data[i], got->bytes[i]},
				b = {want->data[i], want->bytes[i]};

		if (!pctl_type_equal(&got->out[i], &want->out[i])) {
			out->failed = 1;
			snprintf(out->got, sizeof(out->got), "%.60s of %" PRIu64 " bytes",
				 d->out[i].name, got->bytes[i]);
			snprintf(out->want, sizeof(out->want), "%.60s of %" PRIu64 " bytes",
				 d->out[i].name, want->bytes[i]);
			return 1;
		}
		if (pctl_bytes_differ(d->out[i].name, want->out[i].dtype, &a, &b, out))
			return 1;
	}
	return 0;
}
