/* Texts, types, questions and descriptions of op libraries on the wire; see ops_wire.h. */
#include "runtime/ipc/ops_wire.h"

#include <string.h>

#include "runtime/ipc/words.h"
#include "pipectl/program.h"

const uint32_t pctl_ops_dtypes[PCTL_OPS_DTYPES] = {
	PCTL_SCALAR_BOOL, PCTL_SCALAR_I32, PCTL_SCALAR_U32,  PCTL_SCALAR_I64, PCTL_SCALAR_U64,
	PCTL_SCALAR_F16,  PCTL_SCALAR_F32, PCTL_SCALAR_BF16, PCTL_SCALAR_F64, PCTL_SCALAR_I8,
	PCTL_SCALAR_U8,	  PCTL_SCALAR_I16, PCTL_SCALAR_U16,  PCTL_DTYPE_U128, PCTL_DTYPE_BYTES};

void pctl_ops_put_text(pctl_ipc_out *o, const char *text)
{
	pctl_ipc_put_blob(o, text, text ? strlen(text) + 1 : 0);
}

const char *pctl_ops_get_text(pctl_ipc_in *in)
{
	size_t n;
	const uint8_t *p = pctl_ipc_get_blob(in, &n);

	if (!p || n == 0)
		return NULL;
	if (memchr(p, 0, n) == p + n - 1)
		return (const char *)p;
	in->failed = 1;
	return NULL;
}

const char *pctl_ops_get_words(pctl_ipc_in *in)
{
	const char *text = pctl_ops_get_text(in), *p;

	for (p = text; p && *p; p++)
		if (((unsigned char)*p < 0x20 && !strchr("\t\n\r", *p)) || *p == 0x7f)
			break;
	if (!text || (!*p && pctl_words_valid(text, (size_t)(p - text) + 1)))
		return text;
	in->failed = 1;
	return NULL;
}

/* Where the interface wants a text. */
static const char *needed(pctl_ipc_in *in)
{
	const char *text = pctl_ops_get_words(in);

	if (!text)
		in->failed = 1;
	return text;
}

static const char *or_empty(pctl_ipc_in *in)
{
	const char *text = pctl_ops_get_words(in);

	return text ? text : "";
}

uint32_t pctl_ops_get_count(pctl_ipc_in *in, uint32_t most)
{
	const uint32_t n = pctl_ipc_get_u32(in);

	if (!in->failed && n <= most && n <= (in->n - in->pos) / sizeof(uint32_t))
		return n;
	in->failed = 1;
	return 0;
}

void pctl_ops_put_type(pctl_ipc_out *o, const pctl_tensor_type *t)
{
	pctl_ipc_put(o, t, sizeof(*t));
}

int pctl_ops_get_type(pctl_ipc_in *in, pctl_tensor_type *out)
{
	uint32_t i;

	pctl_ipc_get(in, out, sizeof(*out));
	in->failed |= out->rank > PCTL_RANK_MAX;
	for (i = 0; i < PCTL_OPS_DTYPES && pctl_ops_dtypes[i] != out->dtype; i++)
		;
	in->failed |= i == PCTL_OPS_DTYPES;
	if (in->failed)
		memset(out, 0, sizeof(*out));
	for (i = out->rank; i < PCTL_RANK_MAX; i++)
		out->dim[i] = 0;
	return !in->failed;
}

void pctl_ops_put_attrs(pctl_ipc_out *o, const pctl_attr *a, uint32_t n)
{
	uint32_t i;

	pctl_ipc_put_u32(o, n);
	for (i = 0; i < n; i++) {
		pctl_ops_put_text(o, a[i].name);
		pctl_ops_put_text(o, a[i].text);
		pctl_ipc_put_u64(o, a[i].u64);
	}
}

uint32_t pctl_ops_get_attrs(pctl_ipc_in *in, pctl_attr *out)
{
	const uint32_t n = pctl_ops_get_count(in, PCTL_OPS_ATTRS_MAX);
	uint32_t i;

	for (i = 0; i < n; i++) {
		out[i].name = pctl_ops_get_text(in);
		out[i].text = pctl_ops_get_text(in);
		out[i].u64 = pctl_ipc_get_u64(in);
	}
	return n;
}

int pctl_ops_put_query(pctl_ipc_out *o, const pctl_op_query *q)
{
	uint32_t i;

	if (q->n_in > PCTL_PORTS_MAX || q->n_attr > PCTL_OPS_ATTRS_MAX ||
	    q->n_measured > PCTL_OPS_ATTRS_MAX)
		return 0;
	pctl_ipc_put_u32(o, q->op);
	pctl_ipc_put_u32(o, q->n_in);
	for (i = 0; i < q->n_in; i++)
		pctl_ops_put_type(o, &q->in[i]);
	pctl_ops_put_attrs(o, q->attr, q->n_attr);
	pctl_ops_put_attrs(o, q->measured, q->n_measured);
	return 1;
}

int pctl_ops_get_query(pctl_ipc_in *in, pctl_ops_query *out)
{
	uint32_t i;

	memset(&out->q, 0, sizeof(out->q));
	out->q.head = (pctl_head)PCTL_HEAD(pctl_op_query);
	out->q.op = pctl_ipc_get_u32(in);
	out->q.n_in = pctl_ops_get_count(in, PCTL_PORTS_MAX);
	for (i = 0; i < out->q.n_in; i++)
		pctl_ipc_get(in, &out->in[i], sizeof(out->in[i]));
	out->q.n_attr = pctl_ops_get_attrs(in, out->attr);
	out->q.n_measured = pctl_ops_get_attrs(in, out->measured);
	out->q.in = out->in;
	out->q.attr = out->attr;
	out->q.measured = out->measured;
	return !in->failed;
}

/* ---- descriptions ------------------------------------------------------------------------- */

static void put_ports(pctl_ipc_out *o, const pctl_port *p, uint32_t n)
{
	uint32_t i;

	pctl_ipc_put_u32(o, n);
	for (i = 0; i < n; i++) {
		pctl_ops_put_text(o, p[i].name);
		pctl_ops_put_text(o, p[i].type);
		pctl_ops_put_text(o, p[i].doc);
		pctl_ipc_put_u32(o, p[i].flags);
	}
}

static void put_examples(pctl_ipc_out *o, const pctl_example *e, uint32_t n)
{
	uint32_t i;

	pctl_ipc_put_u32(o, n);
	for (i = 0; i < n; i++) {
		pctl_ops_put_text(o, e[i].name);
		pctl_ipc_put(o, e[i].in, sizeof(e[i].in));
	}
}

static void put_rules(pctl_ipc_out *o, const pctl_op_rules *r, int has_law)
{
	uint32_t i;

	pctl_ipc_put_u32(o, r->n_laws);
	for (i = 0; i < r->n_laws; i++) {
		const pctl_law *l = &r->laws[i];

		pctl_ipc_put_u32(o, l->law);
		/* Of a law that is judged by a slot that is not there. */
		pctl_ipc_put_u64(o, l->law == PCTL_LAW_CUSTOM && !has_law ? 0 : l->a);
		pctl_ipc_put_u64(o, l->b);
		pctl_ops_put_text(o, l->other);
		pctl_ops_put_text(o, l->dual);
		pctl_ops_put_text(o, l->custom);
	}
	put_examples(o, r->classes, r->n_classes);
	put_examples(o, r->boundaries, r->n_boundaries);
	pctl_ipc_put_u32(o, r->n_alternates);
	for (i = 0; i < r->n_alternates; i++)
		pctl_ops_put_text(o, r->alternates[i]);
}

void pctl_ops_put_described(pctl_ipc_out *o, const pctl_ops_described *d)
{
	const pctl_op_desc *p = &d->desc;
	uint32_t i;

	pctl_ops_put_text(o, p->name);
	pctl_ops_put_text(o, p->doc);
	pctl_ops_put_text(o, p->spec);
	pctl_ops_put_text(o, p->hardware);
	pctl_ipc_put_u32(o, p->version);
	pctl_ipc_put_u32(o, p->kind);
	pctl_ipc_put_u32(o, p->category);
	pctl_ipc_put_u32(o, p->op_class);
	pctl_ipc_put_u32(o, p->convention);
	put_ports(o, p->in, p->n_in);
	put_ports(o, p->out, p->n_out);
	pctl_ipc_put_u32(o, p->n_attr);
	for (i = 0; i < p->n_attr; i++) {
		pctl_ops_put_text(o, p->attr[i].name);
		pctl_ops_put_text(o, p->attr[i].default_text);
		pctl_ops_put_text(o, p->attr[i].doc);
		pctl_ipc_put_u32(o, p->attr[i].kind);
		pctl_ipc_put_u64(o, p->attr[i].min);
		pctl_ipc_put_u64(o, p->attr[i].max);
	}
	put_rules(o, &d->rules, d->has_law != 0);
	for (i = 0; i < PCTL_OPS_DTYPES; i++)
		pctl_ops_put_text(o, d->functions[i]);
	pctl_ops_put_text(o, d->problems.about);
	pctl_ipc_put_u64(o, d->problems.n);
}

/* Room for n rows, or a failure. */
static void *rows(pctl_ipc_in *in, pctl_arena *a, uint32_t n, size_t size)
{
	void *p = in->failed ? NULL : pctl_arena_array(a, n, size);

	if (!p)
		in->failed = 1;
	return p;
}

static const pctl_port *get_ports(pctl_ipc_in *in, pctl_arena *a, uint32_t *n)
{
	pctl_port *p;
	uint32_t i;

	*n = pctl_ops_get_count(in, PCTL_PORTS_MAX);
	p = rows(in, a, *n, sizeof(*p));
	for (i = 0; p && i < *n; i++) {
		p[i].name = needed(in);
		p[i].type = needed(in);
		p[i].doc = or_empty(in);
		p[i].flags = pctl_ipc_get_u32(in);
		in->failed |= (p[i].flags & ~PCTL_PORT_OPTIONAL) != 0;
	}
	return p;
}

static const pctl_example *get_examples(pctl_ipc_in *in, pctl_arena *a, uint32_t *n)
{
	pctl_example *e;
	uint32_t i;

	*n = pctl_ops_get_count(in, PCTL_OPS_ROWS_MAX);
	e = rows(in, a, *n, sizeof(*e));
	for (i = 0; e && i < *n; i++) {
		e[i].name = needed(in);
		pctl_ipc_get(in, e[i].in, sizeof(e[i].in));
	}
	return e;
}

static void get_law(pctl_ipc_in *in, pctl_law *l)
{
	const char *other, *dual;

	l->law = pctl_ipc_get_u32(in);
	l->a = pctl_ipc_get_u64(in);
	l->b = pctl_ipc_get_u64(in);
	l->other = other = pctl_ops_get_words(in);
	l->dual = dual = pctl_ops_get_words(in);
	l->custom = pctl_ops_get_words(in);
	in->failed |= l->law < PCTL_LAW_COMMUTATIVE || l->law > PCTL_LAW_CUSTOM ||
		      (l->law == PCTL_LAW_CUSTOM && !l->custom) ||
		      (l->law == PCTL_LAW_CUSTOM && l->a & PCTL_LAW_JUDGED && !other) ||
		      (l->law == PCTL_LAW_DISTRIBUTIVE_OVER && !other) ||
		      (l->law == PCTL_LAW_DE_MORGAN && (!other || !dual));
}

static void get_rules(pctl_ipc_in *in, pctl_arena *a, pctl_op_rules *out)
{
	const char **alternates;
	pctl_law *laws;
	uint32_t i;

	out->head = (pctl_head)PCTL_HEAD(pctl_op_rules);
	out->n_laws = pctl_ops_get_count(in, PCTL_OPS_ROWS_MAX);
	out->laws = laws = rows(in, a, out->n_laws, sizeof(*laws));
	for (i = 0; laws && i < out->n_laws; i++)
		get_law(in, &laws[i]);
	out->classes = get_examples(in, a, &out->n_classes);
	out->boundaries = get_examples(in, a, &out->n_boundaries);
	out->n_alternates = pctl_ops_get_count(in, PCTL_OPS_ROWS_MAX);
	alternates = rows(in, a, out->n_alternates, sizeof(*alternates));
	out->alternates = alternates;
	for (i = 0; alternates && i < out->n_alternates; i++)
		alternates[i] = needed(in);
}

static void get_attr_descs(pctl_ipc_in *in, pctl_arena *a, pctl_op_desc *d)
{
	pctl_attr_desc *at;
	uint32_t i;

	d->n_attr = pctl_ops_get_count(in, PCTL_OPS_ATTRS_MAX);
	d->attr = at = rows(in, a, d->n_attr, sizeof(*at));
	for (i = 0; at && i < d->n_attr; i++) {
		at[i].name = needed(in);
		at[i].default_text = pctl_ops_get_words(in);
		at[i].doc = or_empty(in);
		at[i].kind = pctl_ipc_get_u32(in);
		at[i].min = pctl_ipc_get_u64(in);
		at[i].max = pctl_ipc_get_u64(in);
		in->failed |= at[i].kind < PCTL_ATTR_U64 || at[i].kind > PCTL_ATTR_BOOL;
	}
}

int pctl_ops_get_described(pctl_ipc_in *in, pctl_arena *a, pctl_ops_described *out)
{
	pctl_op_desc *d = &out->desc;
	uint32_t i;

	memset(out, 0, sizeof(*out));
	d->head = (pctl_head)PCTL_HEAD(pctl_op_desc);
	d->name = needed(in);
	d->doc = or_empty(in);
	d->spec = or_empty(in);
	d->hardware = pctl_ops_get_words(in);
	d->version = pctl_ipc_get_u32(in);
	d->kind = pctl_ipc_get_u32(in);
	d->category = pctl_ipc_get_u32(in);
	d->op_class = pctl_ipc_get_u32(in);
	d->convention = pctl_ipc_get_u32(in);
	in->failed |= (d->kind != PCTL_OPDEF_FUNCTION && d->kind != PCTL_OPDEF_PLAN) ||
		      d->op_class < PCTL_CLASS_INTEGER || d->op_class > PCTL_CLASS_APPROXIMATE;
	d->in = get_ports(in, a, &d->n_in);
	d->out = get_ports(in, a, &d->n_out);
	get_attr_descs(in, a, d);
	get_rules(in, a, &out->rules);
	for (i = 0; i < PCTL_OPS_DTYPES; i++)
		out->functions[i] = pctl_ops_get_words(in);
	out->problems.head = (pctl_head)PCTL_HEAD(pctl_op_problems);
	out->problems.about = pctl_ops_get_words(in);
	out->problems.n = pctl_ipc_get_u64(in);
	return !in->failed;
}
