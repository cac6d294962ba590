/* transformer.kv_write: rows of a chunk put into a cache (SEMANTICS.md 18.4). y is a copy of the cache into which rows are put: where y lies in the cache's place the
 * copy alone falls away. Where a row goes is data, so words are written by atomics: cleared, then put; but of one token a sequence no two go to one place. */
#include <stdio.h>

#include "common/tensors/exact_reference.h"
#include "kernels.h"
#include "kv_write.h"

pctl_status kv_write_of(const kit_use *u, kv_write *w)
{
	const pctl_tensor_type *x = &u->q->in[KV_X];
	pctl_status status;

	w->s = (sequences){x->dim[0], x->dim[1], 0, KV_START, KV_COUNT};
	if (!tensor_is_float(x->dtype) || x->rank != 4)
		return kit_refuse_type(u, KV_X, u->op->desc.in[KV_X].type);
	status = sequences_types(u, &w->s);
	if (status == PCTL_OK)
		status = kv_cache_of(u, KV_CACHE, KV_PAGES, w->s.n, &w->c);
	if (status == PCTL_OK && (w->c.heads != x->dim[2] || w->c.d != x->dim[3]))
		status = kit_refuse_type(u, KV_X, "heads like those of the cache");
	w->s.positions = w->c.capacity;
	return status == PCTL_OK ? kit_limit(u, "elements", kit_elements(x), TENSOR_ELEMENTS_MAX)
				 : status;
}

static pctl_status kv_infer(const kit_use *u, pctl_op_result *out)
{
	kv_write w;
	const pctl_status status = kv_write_of(u, &w);

	out->out[0] = u->q->in[KV_CACHE];
	return status;
}

/* ---- the plan ------------------------------------------------------------------------------- */

typedef struct kv_buffers {
	uint32_t params, found, named, bad;
} kv_buffers;

/* fn element(e: u32) -> u32: what is put, the bits of EACH elements. */
static void add_element(kit_wgsl *w, const kit_use *u, uint32_t each)
{
	const uint32_t from = u->q->in[KV_X].dtype, to = u->q->in[KV_CACHE].dtype;

	if (from == to) {
		kit_wgsl_add(w, kit_dtype_bytes(to) == 4
					? "fn one(i: u32) -> u32 {\n\treturn x[i];\n}\n"
					: "fn one(i: u32) -> u32 {\n\treturn (x[i >> 1u] >> ((i & "
					  "1u) * 16u)) & 0xffffu;\n}\n");
	} else {
		kit_wgsl_named(w, kit_codec_bits(from), "x");
		kit_wgsl_add(w, KERNEL_NARROW_FLOATS);
		kit_wgsl_named(
			w, "fn one(i: u32) -> u32 {\n\treturn to_$(bitcast<f32>(x_bits(i)));\n}\n",
			kit_dtype_name(to));
	}
	kit_wgsl_add(w, each == 2 ? "fn element(e: u32) -> u32 {\n\treturn one(e) | (one(e + 1u) "
				    "<< 16u);\n}\n"
				  : "fn element(e: u32) -> u32 {\n\treturn one(e);\n}\n");
}

static void add_each(kit_wgsl *w, uint32_t each)
{
	kit_wgsl_add(w, each == 2 ? "const EACH: u32 = 2u;\n" : "const EACH: u32 = 1u;\n");
}

static void add_step(kit_wgsl *w, const kv_write *v, uint32_t each, int second)
{
	const int halves = kit_dtype_bytes(v->c.dtype) == 2;

	add_each(w, each);
	if (!v->c.paged)
		kit_wgsl_add(w, "fn page_step(b: u32, p: u32) {\n}\n");
	else
		kit_wgsl_add(w, second ? "fn page_step(b: u32, p: u32) {\n\tlet page = "
					 "pages[kv_entry(b, p)];\n"
					 "\tif (page >= params.v[1].w || named[page] > 1u) {\n"
					 "\t\tatomicMin(&bad[0], kv_entry(b, p));\n\t}\n}\n"
				       : "fn page_step(b: u32, p: u32) {\n"
					 "\tatomicAdd(&named[pages[kv_entry(b, p)]], 1u);\n}\n");
	kit_wgsl_add(w, second ? "fn look(which: u32, n: u32, t: u32, positions: u32) {\n}\n"
			       : "fn look(which: u32, n: u32, t: u32, positions: u32) {\n"
				 "\tsequences_look(which, n, t, positions);\n}\n");
	/* e: of x; at: of y */
	kit_wgsl_add(w, "fn step(e: u32, at: u32) {\n");
	kit_wgsl_add(w, second ? "\tlet bits = element(e);\n" : "");
	if (!halves)
		kit_wgsl_add(w, second ? "\tatomicOr(&y[at], bits);\n}\n"
				       : "\tatomicAnd(&y[at], 0u);\n}\n");
	else if (each == 2)
		kit_wgsl_add(w, second ? "\tatomicOr(&y[at >> 1u], bits);\n}\n"
				       : "\tatomicAnd(&y[at >> 1u], 0u);\n}\n");
	else
		kit_wgsl_add(w, second ? "\tatomicOr(&y[at >> 1u], bits << ((at & 1u) * 16u));\n}\n"
				       : "\tatomicAnd(&y[at >> 1u], 0xffff0000u >> ((at & 1u) * "
					 "16u));\n}\n");
}

static void run(kit_plan *p, const kv_write *v, const kv_buffers *b, uint32_t each, int second)
{
	const uint64_t n = kit_elements(&p->use->q->in[KV_X]) / each;
	kit_kernel kernel = {second ? "transformer/kv_put.wgsl" : "transformer/kv_clear.wgsl", NULL,
			     64, second ? NULL : "steps", 16};
	kit_slot slots[12] = {KIT_ALL(b->params), KIT_ALL(kit_out(p, 0))};
	kit_wgsl w = kit_wgsl_make(p->use, 16384);
	uint32_t n_slots = 2;
	char text[120];

	while (kernel.override_value < v->s.n)
		kernel.override_value *= 2;
	kit_wgsl_add(&w, second ? "" : "override steps: u32;\n");
	kit_wgsl_add(&w, KERNEL_ELEMENT_PARAMS);
	kit_wgsl_add(&w, "@group(0) @binding(1) var<storage, read_write> y: array<atomic<u32>>;\n");
	n_slots += sequences_text(p, &w, &v->s, second ? SEQUENCES_NONE : b->found, n_slots,
				  slots + n_slots);
	n_slots += kv_place_text(p, &w, &v->c, 1, n_slots, slots + n_slots);
	if (v->c.paged) {
		snprintf(text, sizeof(text),
			 second ? "@group(0) @binding(%u) var<storage, read> named: array<u32>;\n"
				: "@group(0) @binding(%u) var<storage, read_write> named: "
				  "array<atomic<u32>>;\n",
			 n_slots);
		kit_wgsl_add(&w, text);
		slots[n_slots++] = (kit_slot)KIT_ALL(b->named);
	}
	if (second && v->c.paged) {
		snprintf(text, sizeof(text),
			 "@group(0) @binding(%u) var<storage, read_write> bad: "
			 "array<atomic<u32>>;\n",
			 n_slots);
		kit_wgsl_add(&w, text);
		slots[n_slots++] = (kit_slot)KIT_ALL(b->bad);
	}
	if (second) {
		snprintf(text, sizeof(text),
			 "@group(0) @binding(%u) var<storage, read> x: array<u32>;\n", n_slots);
		kit_wgsl_add(&w, text);
		slots[n_slots++] = (kit_slot)KIT_ALL(kit_in(p, KV_X));
		add_element(&w, p->use, each);
	}
	add_step(&w, v, each, second);
	kit_wgsl_add(&w, KERNEL_KV_WRITE);
	if (p->status == PCTL_OK)
		p->status = kit_wgsl_status(&w);
	kernel.text = w.text;
	kit_run(p, &kernel, n, slots, n_slots);
	kit_wgsl_free(&w);
}

#define TOKEN_LANES 256u

/* One token of each sequence into a plain cache is one dispatch: no other sequence has its places; nor is there another beside a single one, whatever its pages are. Gas is
 * priced by the other way. */
static int is_token(const kit_plan *p, const kv_write *v, uint32_t each)
{
	return v->s.t == 1 && (!v->c.paged || v->s.n == 1) &&
	       (each == 2 || kit_dtype_bytes(v->c.dtype) == 4) &&
	       p->caps->device_kind != PCTL_DEVICE_OTHER &&
	       p->caps->max_invocations >= TOKEN_LANES && p->caps->max_groups[0] >= v->s.n;
}

static void run_token(kit_plan *p, const kv_write *v, const kv_buffers *b, uint32_t each,
		      uint32_t (*numbers)[4])
{
	kit_kernel kernel = {"transformer/kv_write_token.wgsl", NULL, TOKEN_LANES, "steps", 16};
	kit_slot slots[10] = {KIT_ALL(kit_out(p, 0))};
	kit_wgsl w = kit_wgsl_make(p->use, 16384);
	uint32_t n_slots = 1;
	char text[400];

	while (kernel.override_value < v->s.n)
		kernel.override_value *= 2;
	kit_wgsl_add(&w, "override steps: u32;\n");
	tensor_written_numbers(&w, 0, numbers, 2);
	kit_wgsl_add(&w, "@group(0) @binding(0) var<storage, read_write> y: array<u32>;\n");
	n_slots += sequences_text(p, &w, &v->s, b->found, n_slots, slots + n_slots);
	n_slots += kv_place_text(p, &w, &v->c, 1, n_slots, slots + n_slots);
	snprintf(text, sizeof(text),
		 "@group(0) @binding(%u) var<storage, read> x: array<u32>;\n"
		 "const CAPACITY: u32 = %lluu;\nconst WORDS: u32 = %lluu;\n",
		 n_slots, (unsigned long long)v->c.capacity,
		 (unsigned long long)(v->c.heads * v->c.d / each));
	kit_wgsl_add(&w, text);
	slots[n_slots++] = (kit_slot)KIT_ALL(kit_in(p, KV_X));
	if (v->c.paged) {
		snprintf(text, sizeof(text),
			 "@group(0) @binding(%u) var<storage, read_write> bad: "
			 "array<atomic<u32>>;\nconst PLACES: u32 = %lluu;\n"
			 "fn place_of(b: u32, p: u32) -> u32 {\n\tlet place = kv_place(b, p);\n"
			 "\tif (place == KV_NOWHERE) {\n\t\tatomicMin(&bad[0], kv_entry(b, p));\n"
			 "\t}\n\treturn place;\n}\n",
			 n_slots, (unsigned long long)(v->c.pool * v->c.page));
		slots[n_slots++] = (kit_slot)KIT_ALL(b->bad);
	} else {
		snprintf(text, sizeof(text),
			 "const PLACES: u32 = %lluu;\n"
			 "fn place_of(b: u32, p: u32) -> u32 {\n\treturn b * CAPACITY + p;\n}\n",
			 (unsigned long long)(v->s.n * v->c.capacity));
	}
	kit_wgsl_add(&w, text);
	add_each(&w, each);
	add_element(&w, p->use, each);
	kit_wgsl_add(&w, "fn look(i: u32, n: u32, t: u32, positions: u32) {\n\tif (i < 2u) {\n"
			 "\t\tsequences_look(i, n, t, positions);\n\t}\n}\n");
	kit_wgsl_add(&w, KERNEL_KV_WRITE_TOKEN);
	if (p->status == PCTL_OK)
		p->status = kit_wgsl_status(&w);
	kernel.text = w.text;
	kit_run(p, &kernel, TOKEN_LANES * v->s.n, slots, n_slots);
	kit_wgsl_free(&w);
}

static void kv_plan(kit_plan *p)
{
	const pctl_tensor_type *x = &p->use->q->in[KV_X];
	struct {
		uint32_t count, none[3], v[TENSOR_NUMBERS][4];
	} params = {0};
	kv_buffers b = {0};
	kv_write w;
	uint32_t each;
	int token;

	p->status = kv_write_of(p->use, &w);
	if (p->status != PCTL_OK)
		return;
	kit_copy(p, kit_in(p, KV_CACHE), 0, kit_out(p, 0), 0,
		 (kit_bytes(&p->use->q->in[KV_CACHE]) + 3) / 4 * 4);
	if (kit_elements(x) == 0)
		return;
	each = kit_dtype_bytes(w.c.dtype) == 2 && w.c.heads * w.c.d % 2 == 0 ? 2 : 1;
	params.count = (uint32_t)(kit_elements(x) / each);
	params.v[0][0] = (uint32_t)w.s.t;
	params.v[0][1] = (uint32_t)(w.c.heads * w.c.d);
	params.v[0][2] = (uint32_t)w.s.n;
	kv_params(&w.c, params.v[1]);
	b.found = kit_temp(p, SEQUENCES_FOUND);
	token = is_token(p, &w, each);
	if (!token)
		b.params = kit_params(p, &params, sizeof(params));
	if (w.c.paged && !token)
		b.named = kit_temp(p, 4 * w.c.pool + 4);
	if (w.c.paged)
		b.bad = kit_temp(p, 4);
	if (w.c.paged && !token)
		kit_fill(p, b.named, 0, 4 * w.c.pool + 4, 0);
	if (w.c.paged)
		kit_fill(p, b.bad, 0, 4, UINT32_MAX);
	if (token) {
		run_token(p, &w, &b, each, params.v);
	} else {
		run(p, &w, &b, each, 0);
		run(p, &w, &b, each, 1);
	}
	sequences_assert(p, &w.s, b.found);
	if (w.c.paged)
		kit_assert(p, b.bad, 4, UINT32_MAX,
			   "pages[%v] is out of range, or a page that another sequence's tokens go "
			   "to");
}

/* ---- plain C -------------------------------------------------------------------------------- */

/* Entries to which tokens go, in order: the first that is out of range or named twice. */
static pctl_status pages_refuse(const kit_use *u, const kv_write *w, const pctl_span *in)
{
	uint32_t *named = kit_scratch(u, 4 * w->c.pool + 4);
	uint64_t bad = UINT64_MAX;

	if (named == NULL)
		return pctl_refuse(u->call, PC2_NOMEM, "no memory for a list of pages");
	memset(named, 0, 4 * w->c.pool);
	for (uint32_t second = 0; second < 2; second++)
		for (uint64_t e = 0; e < w->s.n * w->c.n_pages && bad == UINT64_MAX; e++) {
			const uint64_t b = e / w->c.n_pages, from = e % w->c.n_pages * w->c.page;
			const uint64_t first = sequences_start(&w->s, in, b),
				       end = first + sequences_count(&w->s, in, b);
			const uint64_t page = tensor_get(in[KV_PAGES].data, e, 4);

			if (first == end || first >= from + w->c.page || end <= from)
				continue;
			if (second && (page >= w->c.pool || named[page] > 1))
				bad = e;
			else if (page < w->c.pool)
				named[page]++;
		}
	kit_scratch_free(u, named);
	return bad == UINT64_MAX ? PCTL_OK
				 : pctl_refuse(u->call, PC4205_OP_VALUE,
					       "pages[%llu] is out of range, or a page that "
					       "another sequence's tokens go to",
					       (unsigned long long)bad);
}

static pctl_status kv_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	const uint32_t from = u->q->in[KV_X].dtype;
	const tensor_float_format *f = tensor_float_format_of(u->q->in[KV_CACHE].dtype);
	uint64_t row, bytes;
	kv_write w;
	pctl_status status = kv_write_of(u, &w);

	row = w.c.heads * w.c.d;
	bytes = kit_dtype_bytes(w.c.dtype);
	if (status == PCTL_OK && out[0].n_bytes != 0)
		memcpy(out[0].data, in[KV_CACHE].data, out[0].n_bytes);
	if (status != PCTL_OK || kit_elements(&u->q->in[KV_X]) == 0)
		return status;
	status = sequences_refuse(u, &w.s, in);
	if (status == PCTL_OK && w.c.paged)
		status = pages_refuse(u, &w, in);
	for (uint64_t b = 0; status == PCTL_OK && b < w.s.n; b++)
		for (uint64_t i = 0; i < sequences_count(&w.s, in, b); i++) {
			const uint64_t to = kv_place(&w.c, in, b, sequences_start(&w.s, in, b) + i);

			for (uint64_t e = 0; e < row; e++) {
				const uint64_t x = (b * w.s.t + i) * row + e;

				tensor_put(
					out[0].data, to * row + e, bytes,
					from == w.c.dtype
						? tensor_get(in[KV_X].data, x, bytes)
						: tensor_narrowed((float)tensor_value(
									  from, in[KV_X].data, x),
								  f));
			}
		}
	return status;
}

/* ---- the op --------------------------------------------------------------------------------- */

#define FLOATS "f32|f16|bf16"
static const pctl_op_problems kv_problems = {
	PCTL_HEAD(pctl_op_problems), "plain and paged caches of up to 3 sequences and 24 positions",
	KV_WRITE_PROBLEMS};
static const pctl_port kv_in[] = {
	{"cache", FLOATS "[n,positions,heads,d]",
	 "rows of positions: of each sequence, or with pages of each page", 0, 0},
	{"x", FLOATS "[b,t,heads,d]", "rows of a chunk", 0, 0},
	{"start", "u32[b]", "the position of each sequence's first token", 0, 0},
	{"count", "u32[b]", "how many tokens of each sequence are real", 0, 0},
	{"pages", "u32[b,n_pages]",
	 "the pages of each sequence, in order; no pages: a cache for each sequence", 0, 0}};
static const pctl_port kv_out[] = {{"y", FLOATS "[n,positions,heads,d]",
				    "the cache with the rows in it", PCTL_PORT_IN_PLACE(0), 0}};
static const pctl_law kv_laws[] = {
	TENSOR_LAW("kept", "where no token is real y is the cache"),
	TENSOR_LAW("in two", "a token first and the others then give y"),
	TENSOR_LAW("paged", "of a plain cache: its halves or wholes as pages give y"),
	TENSOR_LAW("read", "of one type: rows of y at the tokens' positions are x's"),
};
static void (*const kv_checks[])(kit_law *) = {kv_law_kept, kv_law_in_two, kv_law_paged,
					       kv_law_read};

static const kit_op ops[] = {
	TENSOR_OP(kv, 1, "transformer.kv_write", "rows put into a cache of keys or values",
		  "Token i of sequence b, below count[b], goes to position p = start[b] + i: y[b, "
		  "p], or with pages y[pages[b, p / page], p % page], is its row "
		  "of x, rounded once to the\ncache's type; the rest is the cache. A position "
		  "beyond the capacity, a page out of range, and one that tokens go to "
		  "by two entries fail the job.",
		  PCTL_CLASS_STRICT, kv_in, 5, kv_out, NULL, 0, NULL),
};

const kit_family transformer_kv_write_family = {ops, NULL, KIT_COUNT(ops), 0};
