/* tensor.max min any all prod argmax argmin: reductions along axes in which no order shows, by trees over the lanes of workgroups; and
 * tensor.prod of floats, which goes from left to right. Everything but products becomes the greatest of unsigned keys. */
#include "extreme.h"

#include <stdio.h>

#include "kernels.h"
#include "reduce_laws.h"

static const extreme *row(const kit_use *u)
{
	return u->op->data;
}

static int is_float(uint32_t dtype)
{
	return tensor_float_format_of(dtype) != NULL;
}

static int is_signed(uint32_t dtype)
{
	return dtype == PCTL_SCALAR_I8 || dtype == PCTL_SCALAR_I16 || dtype == PCTL_SCALAR_I32 ||
	       dtype == PCTL_SCALAR_I64;
}

static int is_known(uint32_t dtype)
{
	return is_float(dtype) || dtype == PCTL_SCALAR_I64 || dtype == PCTL_SCALAR_U64 ||
	       kit_codec_word(dtype) != NULL;
}

static int is_truth(const kit_use *u)
{
	return row(u)->what == EXTREME_ANY || row(u)->what == EXTREME_ALL;
}

pctl_status extreme_axes(const kit_use *u, tensor_axes *a)
{
	const uint32_t dtype = u->q->in[0].dtype;
	uint32_t mask;
	pctl_status status;

	if (row(u)->doubles && dtype != PCTL_SCALAR_F64)
		return kit_refuse_type(u, 0, u->op->desc.in[0].type);
	if (!row(u)->doubles && !is_known(dtype) && !(is_truth(u) && dtype == PCTL_SCALAR_BOOL))
		return kit_refuse_type(u, 0, u->op->desc.in[0].type);
	status = row(u)->indexed ? tensor_axis_mask(u, 0, &mask) : tensor_axes_mask(u, 0, &mask);
	if (status == PCTL_OK)
		status = tensor_axes_of(u, mask, kit_attr(u, 1) != 0, a);
	if (status == PCTL_OK && row(u)->indexed && a->terms == 0)
		return kit_refuse_type(u, 0, "an axis with elements");
	if (row(u)->indexed || is_truth(u))
		a->out.dtype = PCTL_SCALAR_U32;
	return status;
}

static pctl_status infer(const kit_use *u, pctl_op_result *out)
{
	return tensor_axes_infer(u, extreme_axes, out);
}

/* What a reduction of no term gives. */
uint64_t extreme_of_nothing(const kit_use *u, uint32_t dtype)
{
	const tensor_float_format *f = tensor_float_format_of(dtype);
	const uint64_t top = 1ull << (8 * kit_dtype_bytes(dtype) - 1);
	const int least = row(u)->what == EXTREME_MAX;

	if (dtype == PCTL_SCALAR_F64)
		return 0x7ff0000000000000u | (least ? top : 0);
	switch (row(u)->what) {
	case EXTREME_ANY:
		return 0;
	case EXTREME_ALL:
		return 1;
	case EXTREME_PROD:
		return f == NULL		  ? 1
		       : dtype == PCTL_SCALAR_F16 ? 0x3c00u
		       : dtype == PCTL_SCALAR_F32 ? 0x3f800000u
						  : 0x3f80u;
	default:
		if (f != NULL)
			return least ? f->infinity | f->sign : f->infinity;
		if (is_signed(dtype))
			return least ? top : top - 1;
		return least ? 0 : top - 1 + top;
	}
}

/* ---- kernels -------------------------------------------------------------------------------- */

/* K: the key of a term; A: what is joined, with an index a vector (Mesa's OpenCL dies of structs in workgroup memory). */
static void add_types(kit_wgsl *w, const kit_plan *p, int wide, const tensor_round *r)
{
	const kit_use *u = p->use;

	kit_wgsl_add(w, wide && !is_truth(u) ? "alias K = u64;\n" : "alias K = u32;\n");
	kit_wgsl_add(w, row(u)->indexed ? "alias A = vec2<K>;\n" : "alias A = K;\n");
	kit_wgsl_add(w, r->first ? (wide ? "alias X = u64;\n" : "alias X = u32;\n")
				 : "alias X = A;\n");
	kit_wgsl_add(w, !r->last	  ? "alias Y = A;\n"
			: row(u)->indexed ? "alias Y = u32;\n"
					  : "alias Y = K;\n");
	tensor_round_x(p, r, w, "@group(0) @binding(1) var<storage, read> x: array<X>;\n", NULL);
	kit_wgsl_add(w, "@group(0) @binding(2) var<storage, read_write> y: array<Y>;\n");
}

static void add_join(kit_wgsl *w, const kit_use *u)
{
	static const char *const joins[] = {
		[EXTREME_MAX] = "max(a, b)", [EXTREME_MIN] = "max(a, b)", [EXTREME_ANY] = "a | b",
		[EXTREME_ALL] = "a & b",     [EXTREME_PROD] = "a * b",
	};
	const int ones = row(u)->what == EXTREME_ALL || row(u)->what == EXTREME_PROD;

	if (row(u)->indexed) {
		kit_wgsl_add(w, "fn none() -> A {\n\treturn A(K(0), K(0xffffffffu));\n}\n"
				"fn join(a: A, b: A) -> A {\n"
				"\tif (a.x > b.x || (a.x == b.x && a.y <= b.y)) {\n"
				"\t\treturn a;\n\t}\n\treturn b;\n}\n");
		return;
	}
	kit_wgsl_add(w, ones ? "fn none() -> A {\n\treturn K(1);\n}\n"
			     : "fn none() -> A {\n\treturn K(0);\n}\n");
	kit_wgsl_add(w, "fn join(a: A, b: A) -> A {\n\treturn ");
	kit_wgsl_add(w, joins[row(u)->what]);
	kit_wgsl_add(w, ";\n}\n");
}

/* fn key(i: u32) -> K, of element i of x; keys are turned round for the least. */
static void add_key(kit_wgsl *w, const kit_use *u, uint32_t dtype, int wide, int is_through)
{
	const int least = row(u)->what == EXTREME_MIN;
	const char *word = wide && !is_through ? "x[i]" : "x_word(i)";

	if (dtype == PCTL_SCALAR_F64) {
		kit_wgsl_add(w, KERNEL_EXTREME_KEY64);
		kit_wgsl_named(w, "fn key(i: u32) -> K {\n\tlet k = double_key($);\n", word);
		kit_wgsl_add(w, least ? "\treturn select(~k, 0lu, k == 0lu);\n}\n"
				      : "\treturn k;\n}\n");
		return;
	}
	if (is_through)
		; /* tensor_round_x has them */
	else if (is_float(dtype))
		kit_wgsl_named(w, kit_codec_bits(dtype), "x");
	else if (!wide)
		kit_wgsl_named(w,
			       kit_codec_word(dtype == PCTL_SCALAR_BOOL ? PCTL_SCALAR_U32 : dtype),
			       "x");
	kit_wgsl_add(w, "fn key(i: u32) -> K {\n");
	if (is_float(dtype) && is_truth(u))
		kit_wgsl_add(w, "\treturn select(1u, 0u, (x_bits(i) << 1u) == 0u);\n}\n");
	else if (is_float(dtype) && least)
		kit_wgsl_add(w, "\tlet k = float_key(x_bits(i));\n"
				"\treturn select(~k, 0u, k == 0u);\n}\n");
	else if (is_float(dtype))
		kit_wgsl_add(w, "\treturn float_key(x_bits(i));\n}\n");
	else if (is_truth(u))
		kit_wgsl_named(w,
			       wide ? "\treturn select(1u, 0u, $ == 0lu);\n}\n"
				    : "\treturn select(1u, 0u, $ == 0u);\n}\n",
			       word);
	else if (row(u)->what == EXTREME_PROD)
		kit_wgsl_named(w, "\treturn $;\n}\n", word);
	else {
		kit_wgsl_named(w, "\treturn $", word);
		if (is_signed(dtype))
			kit_wgsl_add(w, wide ? " ^ (1lu << 63u)" : " ^ 0x80000000u");
		kit_wgsl_add(w, least ? " ^ ~K(0);\n}\n" : ";\n}\n");
	}
}

/* fn result(k: K) -> K, the word of an element of y. is_empty: no term is there, which of f64 is not NaN alone. */
static void add_result(kit_wgsl *w, const kit_use *u, uint32_t dtype, int wide, int is_empty)
{
	const int least = row(u)->what == EXTREME_MIN;
	char text[256];

	if (dtype == PCTL_SCALAR_F64) {
		snprintf(text, sizeof(text),
			 "fn result(k: K) -> K {\n\tif (k == 0lu) {\n\t\treturn 0x%llxlu;\n\t}\n"
			 "\tlet up = %sk;\n\treturn select(~up, up ^ (1lu << 63u), up >> 63u == "
			 "1lu);\n}\n",
			 (unsigned long long)(is_empty ? extreme_of_nothing(u, dtype)
						       : 0x7ff8000000000000u),
			 least ? "~" : "");
		kit_wgsl_add(w, text);
		return;
	}
	if (is_truth(u) || row(u)->what == EXTREME_PROD) {
		kit_wgsl_add(w, "fn result(k: K) -> K {\n\treturn k;\n}\n");
		return;
	}
	if (is_float(dtype)) {
		snprintf(text, sizeof(text),
			 "fn result(k: K) -> K {\n\tif (k == 0u) {\n\t\treturn %uu;\n\t}\n"
			 "\treturn to_%s(bitcast<f32>(float_of(%sk)));\n}\n",
			 tensor_float_format_of(dtype)->nan, kit_dtype_name(dtype),
			 least ? "~" : "");
		kit_wgsl_add(w, KERNEL_NARROW_FLOATS);
		kit_wgsl_add(w, text);
		return;
	}
	kit_wgsl_add(w, "fn result(k: K) -> K {\n\treturn k");
	if (is_signed(dtype))
		kit_wgsl_add(w, wide ? " ^ (1lu << 63u)" : " ^ 0x80000000u");
	kit_wgsl_add(w, least ? " ^ ~K(0);\n}\n" : ";\n}\n");
}

/* fn take(i: u32, term: u32) -> A, of x or, with `piece`, of what a binding begins with some elements and terms before. */
static void add_take(kit_wgsl *w, const kit_use *u, int piece)
{
	if (piece)
		kit_wgsl_add(w,
			     "struct Piece {\n\t@size(4) skip: u32,\n\t@size(4) before: u32,\n}\n"
			     "@group(0) @binding(3) var<uniform> piece: Piece;\n");
	kit_wgsl_add(w, "fn take(i: u32, term: u32) -> A {\n\treturn ");
	kit_wgsl_add(w, row(u)->indexed ? "A(" : "");
	kit_wgsl_add(w, piece ? "key(piece.skip + i)" : "key(i)");
	if (row(u)->indexed)
		kit_wgsl_add(w, piece ? ", K(piece.before + term))" : ", K(term))");
	kit_wgsl_add(w, ";\n}\n");
}

static void run_round(kit_plan *p, const tensor_axes *a, const tensor_round *r, int piece)
{
	const uint32_t before[2] = {r->skip, r->before};
	const kit_use *u = p->use;
	const uint32_t dtype = u->q->in[0].dtype;
	const int wide = kit_dtype_bytes(dtype) == 8;
	kit_wgsl w = kit_wgsl_make(u, 16384);

	tensor_round_text(&w, a, r);
	add_types(&w, p, wide, r);
	kit_wgsl_add(&w, KERNEL_EXTREME_KEY);
	add_join(&w, u);
	if (r->first) {
		add_key(&w, u, dtype, wide, tensor_round_reads(p, r));
		add_take(&w, u, piece);
	} else {
		kit_wgsl_add(&w, "fn take(i: u32, term: u32) -> A {\n\treturn x[i];\n}\n");
	}
	if (!r->last) {
		kit_wgsl_add(&w, "fn give(a: A) -> Y {\n\treturn a;\n}\n");
	} else if (row(u)->indexed) {
		kit_wgsl_add(&w, "fn give(a: A) -> Y {\n\treturn u32(a.y);\n}\n");
	} else {
		add_result(&w, u, dtype, wide, a->terms == 0);
		kit_wgsl_add(&w, "fn give(a: A) -> Y {\n\treturn result(a);\n}\n");
	}
	tensor_round_tree(p, r, &w);
	tensor_round_run(p, "tensor/reduce.wgsl", a, r, &w,
			 (kit_slot[]){KIT_ALL(tensor_round_params(p, a, r)), tensor_round_from(r),
				      KIT_ALL(r->to),
				      KIT_ALL(piece ? kit_params(p, before, sizeof(before)) : 0)},
			 piece ? 4 : 3);
}

/* Of elements of 4 bytes or fewer. */
static void fill(kit_plan *p, const tensor_axes *a)
{
	const uint64_t bytes = kit_dtype_bytes(a->out.dtype), n = a->count * bytes;
	const uint64_t one = extreme_of_nothing(p->use, p->use->q->in[0].dtype);
	uint8_t word[4] = {0};
	uint32_t pattern;

	for (uint64_t i = 0; i < 4; i += bytes)
		memcpy(word + i, &one, bytes);
	memcpy(&pattern, word, 4);
	kit_fill(p, kit_out(p, 0), 0, n / 4 * 4, pattern);
	if (n % 4 != 0)
		kit_fill(p, kit_out(p, 0), n / 4 * 4, 4, pattern & ((1u << (8 * (n % 4))) - 1));
}

/* One dispatch a run of terms, so that no loop is long; what there is of the product lies in between. */
static void products(kit_plan *p, const tensor_axes *a)
{
	const uint64_t most = 16384;
	tensor_round r = {.terms = a->terms, .lanes = 1, .runs = 1, .width = 1, .first = 1};
	const uint32_t place = tensor_round_params(p, a, &r);
	const uint32_t dtype = p->use->q->in[0].dtype;
	uint32_t so_far = 0;

	for (uint64_t done = 0; done < a->terms && p->status == PCTL_OK; done += most) {
		const uint64_t n = a->terms - done < most ? a->terms - done : most;
		const uint32_t span[4] = {(uint32_t)done, (uint32_t)n, 0, 0};
		const int last = done + n == a->terms;
		const uint32_t to = last && kit_dtype_bytes(dtype) == 4 ? kit_out(p, 0)
									: kit_temp(p, 4 * a->count);
		kit_kernel kernel = {"tensor/prod.wgsl", NULL, 64, "steps", 1};
		kit_wgsl w = kit_wgsl_make(p->use, 16384);

		tensor_round_text(&w, a, &r);
		kit_wgsl_add(&w, "@group(0) @binding(1) var<storage, read> x: array<u32>;\n");
		kit_wgsl_named(&w, kit_codec_bits(dtype), "x");
		kit_wgsl_add(&w, done == 0 ? "fn before(i: u32) -> f32 {\n\treturn 1.0;\n}\n"
					   : "@group(0) @binding(4) var<storage, read> p: "
					     "array<u32>;\nfn before(i: u32) -> f32 {\n\treturn "
					     "bitcast<f32>(p[i]);\n}\n");
		kit_wgsl_add(&w, KERNEL_NARROW_FLOATS);
		kit_wgsl_add(&w, "fn result(x: f32) -> u32 {\n\treturn to_");
		kit_wgsl_add(&w, last ? kit_dtype_name(dtype) : "f32");
		kit_wgsl_add(&w, "(x);\n}\n");
		kit_wgsl_add(&w, KERNEL_PROD_FLOATS);
		while (kernel.override_value < n)
			kernel.override_value *= 2;
		kernel.text = w.text;
		if (p->status == PCTL_OK)
			p->status = kit_wgsl_status(&w);
		kit_run(p, &kernel, a->count,
			(kit_slot[]){KIT_ALL(place), KIT_ALL(kit_in(p, 0)), KIT_ALL(to),
				     KIT_ALL(kit_params(p, span, sizeof(span))), KIT_ALL(so_far)},
			done == 0 ? 4 : 5);
		kit_wgsl_free(&w);
		so_far = to;
	}
	if (kit_dtype_bytes(dtype) != 4)
		tensor_pack(p, so_far, kit_out(p, 0), a->count, kit_dtype_bytes(dtype));
}

static void run_piece(kit_plan *p, const tensor_axes *a, const tensor_round *r, void *ctx)
{
	(void)ctx;
	run_round(p, a, r, 1);
}

/* Bytes of what a result is joined of, and of the words that results are written as. */
typedef struct sizes {
	uint64_t item, result;
} sizes;

static sizes sizes_of(const kit_use *u)
{
	const uint64_t word = kit_dtype_bytes(u->q->in[0].dtype) == 8 && !is_truth(u) ? 8 : 4;

	return row(u)->indexed ? (sizes){2 * word, 4} : (sizes){word, word};
}

static void rounds(kit_plan *p, const tensor_axes *a, tensor_round r, uint32_t to)
{
	for (; p->status == PCTL_OK; r = tensor_round_next(a, &r, 4)) {
		r.to = r.last ? to : kit_temp(p, a->count * r.runs * sizes_of(p->use).item);
		run_round(p, a, &r, 0);
		if (r.last)
			break;
	}
}

static void slabs(kit_plan *p, const tensor_slabs *s, uint32_t to)
{
	const sizes each = sizes_of(p->use);
	const uint64_t bytes = each.result * s->each.count;

	for (uint64_t i = 0; i < s->n && p->status == PCTL_OK; i++) {
		const uint32_t part = s->n == 1 ? to : kit_temp(p, bytes);

		rounds(p, &s->each,
		       tensor_round_pieces(p, &s->each, i * s->elements, 4, each.item, run_piece,
					   NULL),
		       part);
		if (s->n != 1)
			kit_copy(p, part, 0, to, i * bytes, bytes);
	}
}

static void plan(kit_plan *p)
{
	const kit_use *u = p->use;
	const uint32_t dtype = u->q->in[0].dtype;
	const sizes each = sizes_of(u);
	tensor_slabs s;
	tensor_axes a;
	uint32_t to;

	p->status = extreme_axes(u, &a);
	if (p->status != PCTL_OK || a.count == 0 || !tensor_axes_go_through(p, &a))
		return;
	if (a.terms == 0 && each.result == 4) {
		fill(p, &a);
		return;
	}
	if (row(u)->what == EXTREME_PROD && is_float(dtype)) {
		if (p->through != 0)
			p->status = PCTL_E_UNSUPPORTED;
		else
			products(p, &a);
		return;
	}
	to = kit_dtype_bytes(a.out.dtype) < 4 ? kit_temp(p, each.result * a.count) : kit_out(p, 0);
	s = tensor_slabs_of(p, &a);
	if (s.n != 0)
		slabs(p, &s, to);
	else
		rounds(p, &a, tensor_round_first(&a, kit_in(p, 0), 4), to);
	if (to != kit_out(p, 0))
		tensor_pack(p, to, kit_out(p, 0), a.count, kit_dtype_bytes(a.out.dtype));
}

/* ---- the ops -------------------------------------------------------------------------------- */

#define TERMS_TYPE "f32|f16|bf16|i8|u8|i16|u16|i32|u32|i64|u64"
static const pctl_port number_in[] = {
	{"x", TERMS_TYPE "[...]", "the elements", PCTL_PORT_THROUGH, 0}};
static const pctl_port number_out[] = {
	{"y", TERMS_TYPE "[...]", "the results, of x's type", PCTL_PORT_THROUGH, 0}};
static const pctl_port truth_in[] = {
	{"x", TERMS_TYPE "|bool[...]", "the elements", PCTL_PORT_THROUGH, 0}};
static const pctl_port word_out[] = {{"y", "u32[...]", "the results", PCTL_PORT_THROUGH, 0}};
static const pctl_port double_in[] = {{"x", "f64[...]", "the elements", PCTL_PORT_THROUGH, 0}};
static const pctl_port double_out[] = {{"y", "f64[...]", "the results", PCTL_PORT_THROUGH, 0}};
static const pctl_attr_desc axes_attr[] = {
	{"axes", "",
	 "what is reduced: numbers of axes between commas, negative ones from the end; if not "
	 "given, all",
	 PCTL_ATTR_STRING, 0, 0, 0},
	{"keep", "false", "these axes stay, with one element", PCTL_ATTR_BOOL, 0, 0, 1},
};
static const pctl_attr_desc axis_attr[] = {
	{"axis", "-1", "what is searched; a negative number counts from the end", PCTL_ATTR_I64, 0,
	 (uint64_t)-8, 7},
	{"keep", "false", "the axis stays, with one element", PCTL_ATTR_BOOL, 0, 0, 1},
};
#define LAW(name, words)                                                  \
	{                                                                 \
		PCTL_LAW_CUSTOM, 0, PCTL_LAW_JUDGED, 0, name, NULL, words \
	}
static const pctl_law value_laws[] = {
	LAW("permuted", "but for products of more than two floats: x reversed along the reduced "
			"axes gives the same y"),
	LAW("split", "but for products of more than two floats: of two parts of x along an axis, y "
		     "of both y is y"),
	LAW("transposed", "but for products of more than two floats: x with its axes in reverse "
			  "order gives y with its own so"),
	LAW("alone", "a result is the same where its terms are all there is"),
	LAW("neutral", "what nothing gives, in front of x or behind it, leaves y as it is where y "
		       "is a number"),
};
static void (*const value_checks[])(kit_law *) = {reduce_law_permuted, reduce_law_split,
						  reduce_law_transposed, reduce_law_alone,
						  reduce_law_neutral};
static const pctl_law index_laws[] = {
	LAW("found", "the element at y is tensor.max (tensor.min) along the axis, bit for bit "
		     "where it is no NaN"),
	LAW("lowest", "x up to the element at y, without it, has another max (min), or NaN alone"),
	LAW("alone", "a result is the same where its terms are all there is"),
};
static void (*const index_checks[])(kit_law *) = {index_law_found, index_law_lowest,
						  reduce_law_alone};
static const pctl_example boundaries[] = {
	{"nothing", {0}}, {"one", {1}}, {"a lane more", {65}}, {"two rounds", {1025}}};

#define OP(op, op_doc, op_spec, id, in_, out_, attr_, class_, what, indexed, doubles)           \
	{                                                                                       \
		.desc = {KIT_PLAN_OP(op, 1, class_),                                            \
			 .doc = op_doc,                                                         \
			 .spec = op_spec                                                        \
			 "\nx has at most 2^31 elements, a result at most 2^29 terms.",         \
			 KIT_IN(in_),                                                           \
			 KIT_OUT(out_),                                                         \
			 KIT_ATTR(attr_)},                                                      \
		.rules = KIT_PLAN_RULES(id##_laws, boundaries), .laws = id##_checks,            \
		.problems = &reduce_problems, .problem = reduce_problem,                        \
		.data = &(const extreme){what, indexed, doubles}, .infer = infer, .plan = plan, \
		.reference = extreme_reference                                                  \
	}
#define EXTREME_OP(op, op_doc, op_spec, id, in_, out_, attr_, class_, what, indexed) \
	OP(op, op_doc, op_spec, id, in_, out_, attr_, class_, what, indexed, 0)
#define DOUBLE_OP(op, op_doc, op_spec, id, out_, attr_, what, indexed) \
	OP(op, op_doc, op_spec, id, double_in, out_, attr_, PCTL_CLASS_STRICT, what, indexed, 1)

static const kit_op ops[] = {
	EXTREME_OP("tensor.max", "the greatest along axes",
		   "The greatest element: of floats -0 is below +0, a NaN loses to a number, NaN "
		   "alone gives the canonical NaN. The greatest\nof nothing is -Inf, of integers "
		   "the least of the type.",
		   value, number_in, number_out, axes_attr, PCTL_CLASS_STRICT, EXTREME_MAX, 0),
	EXTREME_OP(
		"tensor.min", "the least along axes",
		"The least element: of floats -0 is below +0, a NaN loses to a number, NaN alone "
		"gives the canonical NaN. The least\nof nothing is +Inf, of integers the "
		"greatest of the type.",
		value, number_in, number_out, axes_attr, PCTL_CLASS_STRICT, EXTREME_MIN, 0),
	EXTREME_OP("tensor.prod", "products along axes",
		   "Of floats p = 1, then p * x in f32 with the index ascending (of several axes "
		   "the last one fastest), every step rounded,\nrounded once more to x's type at "
		   "the end; of integers modulo 2^width.",
		   value, number_in, number_out, axes_attr, PCTL_CLASS_STRICT, EXTREME_PROD, 0),
	EXTREME_OP("tensor.any", "is anything not zero, along axes",
		   "1 where some element is not zero, else 0; a NaN is not zero, -0 is. 0 of "
		   "nothing.",
		   value, truth_in, word_out, axes_attr, PCTL_CLASS_STRICT, EXTREME_ANY, 0),
	EXTREME_OP("tensor.all", "is nothing zero, along axes",
		   "1 where no element is zero, else 0; a NaN is not zero, -0 is. 1 of nothing.",
		   value, truth_in, word_out, axes_attr, PCTL_CLASS_STRICT, EXTREME_ALL, 0),
	EXTREME_OP("tensor.argmax", "where the greatest is, along one axis",
		   "The lowest index at which the element is tensor.max of the axis; of NaN alone "
		   "0. An axis without elements is refused.",
		   index, number_in, word_out, axis_attr, PCTL_CLASS_STRICT, EXTREME_MAX, 1),
	EXTREME_OP("tensor.argmin", "where the least is, along one axis",
		   "The lowest index at which the element is tensor.min of the axis; of NaN alone "
		   "0. An axis without elements is refused.",
		   index, number_in, word_out, axis_attr, PCTL_CLASS_STRICT, EXTREME_MIN, 1),
	DOUBLE_OP("tensor.max64", "the greatest of f64 along axes",
		  "The greatest element: -0 is below +0, a NaN loses to a number, NaN alone gives "
		  "the canonical NaN. The greatest\nof nothing is -Inf.",
		  value, double_out, axes_attr, EXTREME_MAX, 0),
	DOUBLE_OP("tensor.min64", "the least of f64 along axes",
		  "The least element: -0 is below +0, a NaN loses to a number, NaN alone gives the "
		  "canonical NaN. The least\nof nothing is +Inf.",
		  value, double_out, axes_attr, EXTREME_MIN, 0),
	DOUBLE_OP("tensor.argmax64", "where the greatest f64 is, along one axis",
		  "The lowest index at which the element is tensor.max64 of the axis; of NaN alone "
		  "0. An axis without elements is refused.",
		  index, word_out, axis_attr, EXTREME_MAX, 1),
	DOUBLE_OP("tensor.argmin64", "where the least f64 is, along one axis",
		  "The lowest index at which the element is tensor.min64 of the axis; of NaN alone "
		  "0. An axis without elements is refused.",
		  index, word_out, axis_attr, EXTREME_MIN, 1),
};

const kit_family tensor_extreme_family = {ops, NULL, KIT_COUNT(ops), 0};
