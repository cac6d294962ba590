/* tensor.sort, argsort and topk along an axis (SEMANTICS.md 16.6). Keys that ascend as the order has it, and the line of each element, go
 * through tensor.sort_pairs from the least word up: it is stable, and so is all that is made of it. */
#include "common/tensors/elements.h"
#include "kernels.h"

enum { ATTR_AXIS, ATTR_DESCENDING };
enum { ATTR_K = 1, ATTR_LARGEST };
enum { SORT, ARGSORT, TOPK };
static const uint32_t sorts = SORT, argsorts = ARGSORT, topks = TOPK;

typedef struct ordering {
	tensor_lines x;
	uint64_t k;
	int descending, what;
	pctl_tensor_type out;
} ordering;

static pctl_status ordering_of(const kit_use *u, ordering *o)
{
	pctl_status status = tensor_movable(u, 0);

	*o = (ordering){.what = (int)*(const uint32_t *)u->op->data, .out = u->q->in[0]};
	if (status == PCTL_OK)
		status = tensor_lines_of(u, ATTR_AXIS, &u->q->in[0], &o->x);
	if (status != PCTL_OK)
		return status;
	o->descending = kit_attr(u, o->what == TOPK ? ATTR_LARGEST : ATTR_DESCENDING) != 0;
	o->k = o->what == TOPK ? kit_attr(u, ATTR_K) : o->x.n;
	if (o->k > o->x.n)
		return kit_refuse_attr(u, "k", "is more than there are elements along the axis");
	o->out.dim[o->x.axis] = o->k;
	return PCTL_OK;
}

static pctl_status order_infer(const kit_use *u, pctl_op_result *out)
{
	ordering o;
	const pctl_status status = ordering_of(u, &o);

	if (status != PCTL_OK)
		return status;
	out->out[0] = out->out[1] = o.out;
	if (o.what == ARGSORT)
		out->out[0].dtype = PCTL_SCALAR_U32;
	out->out[1].dtype = PCTL_SCALAR_U32;
	return PCTL_OK;
}

/* Word `word` of the keys (of the line where that is past them) of the elements in the order so far, which is changed to the new one.
 * order 0: that of the elements. */
static void pass(kit_plan *p, const ordering *o, uint32_t word, uint32_t *order)
{
	const pctl_tensor_type *x = &p->use->q->in[0];
	const uint64_t n = kit_elements(x);
	const pctl_tensor_type t = kit_vector(PCTL_SCALAR_U32, n);
	const uint32_t keys = kit_temp(p, 4 * n), sorted = kit_temp(p, 4 * n),
		       next = kit_temp(p, 4 * n);
	const int first = *order == 0, wide = tensor_bits(x->dtype) == 64,
		  line = word == (wide ? 2 : 1);
	tensor_kernel k;
	int parted;

	if (first) {
		*order = kit_temp(p, 4 * n);
		k = tensor_kernel_begin(p, "tensor/order_start.wgsl", n, 4, 0);
		kit_wgsl_add(&k.w, "fn product(i: u32) -> T {\n\treturn i;\n}\n");
		tensor_kernel_run(&k, *order);
	}
	k = tensor_kernel_begin(p, "tensor/order_key.wgsl", n, 4, 0);
	parted = tensor_kernel_bind_words(&k, "order", *order, n);
	if (line && parted) {
		kit_wgsl_add(&k.w,
			     "fn product(i: u32) -> T {\n\tlet at = order_word(i);\n\treturn (at / "
			     "params.v[0].y / params.v[0].x) * params.v[0].x + at % "
			     "params.v[0].x;\n}\n");
	} else if (line) {
		kit_wgsl_add(&k.w,
			     "fn product(i: u32) -> T {\n\tlet at = order[i];\n\treturn (at / "
			     "params.v[0].y / params.v[0].x) * params.v[0].x + at % "
			     "params.v[0].x;\n}\n");
	} else {
		tensor_kernel_read_of(&k, "x", x->dtype, kit_in(p, 0));
		tensor_kernel_order(&k, x->dtype);
		kit_wgsl_add(&k.w, word == 1 ? "fn word_of(key: E) -> u32 {\n\treturn u32(key >> "
					       "32u);\n}\n"
				   : wide    ? "fn word_of(key: E) -> u32 {\n\treturn u32(key & "
					       "0xfffffffflu);\n}\n"
					     : "fn word_of(key: E) -> u32 {\n\treturn key;\n}\n");
		if (parted)
			kit_wgsl_add(&k.w,
				     o->descending
					     ? "fn product(i: u32) -> T {\n\treturn "
					       "~word_of(order_key(x_raw(order_word(i))));\n}\n"
					     : "fn product(i: u32) -> T {\n\treturn "
					       "word_of(order_key(x_raw(order_word(i))));\n}\n");
		else
			kit_wgsl_add(&k.w, o->descending
						   ? "fn product(i: u32) -> T {\n\treturn "
						     "~word_of(order_key(x_raw(order[i])));\n}\n"
						   : "fn product(i: u32) -> T {\n\treturn "
						     "word_of(order_key(x_raw(order[i])));\n}\n");
	}
	k.params.v[0][0] = (uint32_t)o->x.inner;
	k.params.v[0][1] = (uint32_t)o->x.n;
	tensor_kernel_run(&k, keys);
	kit_run_op(p, "tensor.sort_pairs", 1,
		   (kit_arg[]){{keys, t}, {*order, t}, {sorted, t}, {next, t}}, 4, NULL, 0);
	*order = next;
}

/* What each place of the result holds: x's element there (NULL), or its coordinate. */
static void place(kit_plan *p, const ordering *o, uint32_t order, int coordinate, uint32_t to)
{
	const uint32_t dtype = coordinate ? PCTL_SCALAR_U32 : p->use->q->in[0].dtype;
	tensor_kernel k = tensor_kernel_begin_of(p, "tensor/order_place.wgsl",
						 kit_elements(&o->out), dtype, 0);

	const int parted =
		tensor_kernel_bind_words(&k, "order", order, kit_elements(&p->use->q->in[0]));

	if (!coordinate)
		tensor_kernel_read_of(&k, "x", dtype, kit_in(p, 0));
	kit_wgsl_add(&k.w, parted ? KERNEL_ORDER_PLACE_PARTS : KERNEL_ORDER_PLACE);
	kit_wgsl_add(
		&k.w,
		coordinate
			? "fn product(i: u32) -> T {\n\treturn (taken_from(i) / params.v[0].x) % "
			  "params.v[0].y;\n}\n"
			: "fn product(i: u32) -> T {\n\treturn x_raw(taken_from(i));\n}\n");
	k.params.v[0][0] = (uint32_t)o->x.inner;
	k.params.v[0][1] = (uint32_t)o->x.n;
	k.params.v[0][2] = (uint32_t)o->k;
	tensor_kernel_run(&k, to);
}

static void order_plan(kit_plan *p)
{
	const int wide = tensor_bits(p->use->q->in[0].dtype) == 64;
	uint32_t order = 0;
	ordering o;

	p->status = ordering_of(p->use, &o);
	if (p->status != PCTL_OK || kit_elements(&o.out) == 0)
		return;
	pass(p, &o, 0, &order);
	if (wide)
		pass(p, &o, 1, &order);
	if (o.x.outer * o.x.inner > 1)
		pass(p, &o, wide ? 2 : 1, &order);
	place(p, &o, order, o.what == ARGSORT, kit_out(p, 0));
	if (o.what == TOPK)
		place(p, &o, order, 1, kit_out(p, 1));
}

/* By insertion, line by line: an element goes behind those that go before it or are its equals. */
static pctl_status order_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	const uint32_t dtype = u->q->in[0].dtype;
	uint64_t *at;
	ordering o;
	const pctl_status status = ordering_of(u, &o);

	if (status != PCTL_OK)
		return status;
	at = kit_scratch(u, 8 * o.x.n);
	if (at == NULL)
		return pctl_refuse(u->call, PC2_NOMEM, "no memory for %s", u->op->desc.name);
	for (uint64_t line = 0; line < o.x.outer * o.x.inner; line++) {
		const uint64_t first = line / o.x.inner * o.x.n * o.x.inner + line % o.x.inner;
		const uint64_t first_out = line / o.x.inner * o.k * o.x.inner + line % o.x.inner;

		for (uint64_t i = 0; i < o.x.n; i++) {
			const uint64_t key = tensor_order_key(
				dtype, tensor_code(dtype, in[0].data, first + i * o.x.inner));
			uint64_t to = i;

			for (; to > 0; to--) {
				const uint64_t other = tensor_order_key(
					dtype, tensor_code(dtype, in[0].data,
							   first + at[to - 1] * o.x.inner));

				if (o.descending ? other >= key : other <= key)
					break;
				at[to] = at[to - 1];
			}
			at[to] = i;
		}
		for (uint64_t i = 0; i < o.k; i++) {
			const uint64_t to = first_out + i * o.x.inner;

			if (o.what != SORT)
				tensor_put(out[o.what == TOPK].data, to, 4, at[i]);
			if (o.what != ARGSORT)
				tensor_code_put(
					dtype, out[0].data, to,
					tensor_code(dtype, in[0].data, first + at[i] * o.x.inner));
		}
	}
	kit_scratch_free(u, at);
	return PCTL_OK;
}

/* ---- problems and laws ---------------------------------------------------------------------- */

static const pctl_op_problems order_problems = {
	PCTL_HEAD(pctl_op_problems), "tensors of up to 325 elements, any bits and few values",
	TENSOR_SHAPES * 6};

static void order_problem(kit_problem *p)
{
	pctl_tensor_type x = tensor_problem_shapes[p->number % TENSOR_SHAPES];
	const uint32_t variant = (uint32_t)(p->number / TENSOR_SHAPES) % 6, axis = variant % x.rank;
	char text[8] = {(char)('0' + axis), '\0'};

	if (tensor_problem_of_others(p))
		return;
	x.dtype = p->dtype;
	tensor_problem_attr(p, ATTR_AXIS, text);
	if (*(const uint32_t *)p->use.op->data == TOPK) {
		tensor_problem_attr(p, ATTR_K, x.dim[axis] > 1 && variant > 2 ? "2" : "0");
		if (x.dim[axis] > 0 && variant < 2)
			tensor_problem_attr(p, ATTR_K, "1");
		tensor_problem_attr(p, ATTR_LARGEST, variant % 2 ? "true" : "false");
	} else {
		tensor_problem_attr(p, ATTR_DESCENDING, variant % 2 ? "true" : "false");
	}
	tensor_problem_fill(p, 0, &x, variant % TENSOR_KINDS);
	kit_problem_rigid(p);
}

/* What argsort gives takes what sort gives. */
static void law_taken(kit_law *l)
{
	const pctl_op_query *q = l->use.q;
	const uint32_t index = kit_law_use(l, "tensor.argsort", (uint32_t[]){0}, 1, q->attr, 2, 1);
	uint32_t in[2] = {0, index};

	kit_law_equal(l, kit_law_use(l, "tensor.take_along", in, 2, q->attr, 1, 1),
		      kit_law_out(l, 0));
}

static void law_again(kit_law *l)
{
	const uint32_t y = kit_law_out(l, 0);

	kit_law_equal(l, kit_law_use(l, "tensor.sort", &y, 1, l->use.q->attr, 2, 1), y);
}

/* The numbers of the order of the order: where each element went. Those of that again are the order. */
static void law_ranks(kit_law *l)
{
	const pctl_op_query *q = l->use.q;
	const pctl_attr attr[2] = {q->attr[0], {"descending", "false", 0}};
	uint32_t in = kit_law_out(l, 0);

	for (uint32_t i = 0; i < 2; i++)
		in = kit_law_use(l, "tensor.argsort", &in, 1, attr, 2, 1);
	kit_law_equal(l, in, kit_law_out(l, 0));
}

/* Both outputs take the same elements, which are the first of what is sorted. */
static void law_first(kit_law *l)
{
	const pctl_op_query *q = l->use.q;
	const uint32_t y = kit_law_out(l, 0);
	const pctl_attr sorted[2] = {q->attr[0], {"descending", q->attr[ATTR_LARGEST].text, 0}};
	uint32_t in[2] = {0, y + 1}, count;
	pctl_tensor_type t = l->c->types[y + 1];
	ordering o;
	uint32_t *data;

	if (ordering_of(&l->use, &o) != PCTL_OK)
		return;
	kit_law_equal(l, kit_law_use(l, "tensor.take_along", in, 2, q->attr, 1, 1), y);
	count = (uint32_t)kit_elements(&t);
	data = kit_law_scratch(l, 4ull * count + 4);
	if (data == NULL)
		return;
	for (uint32_t i = 0; i < count; i++)
		data[i] = (uint32_t)(i / o.x.inner % o.k);
	in[0] = kit_law_use(l, "tensor.sort", (uint32_t[]){0}, 1, sorted, 2, 1);
	in[1] = kit_law_tensor(l, &t, data);
	kit_law_equal(l, kit_law_use(l, "tensor.take_along", in, 2, q->attr, 1, 1), y);
	kit_law_free(l, data);
}

/* ---- the ops -------------------------------------------------------------------------------- */

static const pctl_port in[] = {{"x", TENSOR_ANY "[...]", "the elements", 0, 0}};
static const pctl_port sort_out[] = {{"y", TENSOR_ANY "[...]", "x in order along the axis", 0, 0}};
static const pctl_port argsort_out[] = {
	{"index", "u32[...]", "where each was along the axis", 0, 0}};
static const pctl_port topk_out[] = {{"y", TENSOR_ANY "[...]", "the first k in order", 0, 0},
				     {"index", "u32[...]", "where each was along the axis", 0, 0}};
#define AXIS                                                                                       \
	{                                                                                          \
		"axis", "-1", "along which; a negative one counts from the end", PCTL_ATTR_I64, 0, \
			0, 0                                                                       \
	}
static const pctl_attr_desc sort_attr[] = {
	AXIS,
	{"descending", "false", "the largest first", PCTL_ATTR_BOOL, 0, 0, 1},
};
static const pctl_attr_desc topk_attr[] = {
	AXIS,
	{"k", NULL, "how many", PCTL_ATTR_U64, 0, 0, TENSOR_ELEMENTS_MAX},
	{"largest", "true", "the largest first; false: the smallest", PCTL_ATTR_BOOL, 0, 0, 1},
};
static const pctl_law sort_laws[] = {
	TENSOR_LAW("taken", "y is what tensor.argsort of x takes along the axis"),
	TENSOR_LAW("again", "sorting what is sorted changes nothing"),
};
static void (*const sort_checks[])(kit_law *) = {law_taken, law_again};
static const pctl_law argsort_laws[] = {
	TENSOR_LAW("ranks", "the argsort of the argsort of y, ascending, is y")};
static void (*const argsort_checks[])(kit_law *) = {law_ranks};
static const pctl_law topk_laws[] = {
	TENSOR_LAW("first", "index takes y from x, and y is the first k of tensor.sort")};
static void (*const topk_checks[])(kit_law *) = {law_first};

#define sort_problems order_problems
#define sort_problem order_problem
#define sort_infer order_infer
#define sort_plan order_plan
#define sort_reference order_reference
#define argsort_problems order_problems
#define argsort_problem order_problem
#define argsort_infer order_infer
#define argsort_plan order_plan
#define argsort_reference order_reference
#define topk_problems order_problems
#define topk_problem order_problem
#define topk_infer order_infer
#define topk_plan order_plan
#define topk_reference order_reference
#define ORDER                                                                                     \
	"\nIntegers by value, floats by totalOrder: NaNs with a sign first, -0 before +0, other " \
	"NaNs "                                                                                   \
	"last. Of equal bits the lower index\ngoes first, in descending order too."

static const kit_op ops[] = {
	TENSOR_OP(sort, 1, "tensor.sort", "elements in order along an axis, stable",
		  "y is x in order along the axis." ORDER, PCTL_CLASS_INTEGER, in, 1, sort_out,
		  sort_attr, 2, &sorts),
	TENSOR_OP(argsort, 1, "tensor.argsort", "the indices that put elements in order, stable",
		  "index[i] is where element i of the order was along the axis." ORDER,
		  PCTL_CLASS_INTEGER, in, 1, argsort_out, sort_attr, 2, &argsorts),
	TENSOR_OP(topk, 2, "tensor.topk",
		  "the k largest or smallest along an axis, and where they were",
		  "The first k of the order, descending where largest." ORDER, PCTL_CLASS_INTEGER,
		  in, 1, topk_out, topk_attr, 3, &topks),
};

const kit_family tensor_order_family = {ops, NULL, KIT_COUNT(ops), 0};
