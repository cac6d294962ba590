/* tensor.scatter (SEMANTICS.md 16.4). Targets and updates go through tensor.sort_pairs, which is stable, so that each element of the result
 * finds its updates side by side and in order: nothing is written to an address that data name. */
#include <stdio.h>

#include "common/tensors/elements.h"
#include "common/tensors/exact_reference.h"
#include "kernels.h"

enum { ATTR_AXIS, ATTR_MODE, ATTR_NEGATIVE };
enum { SET, ADD, MIN, MAX, AND, OR, XOR, MODES };
static const char *const mode_names[MODES] = {"set", "add", "min", "max", "and", "or", "xor"};

typedef struct scattering {
	tensor_lines x;
	uint64_t m; /* updates along the axis */
	uint32_t mode;
	int negative;
} scattering;

static int is_narrow_integer(uint32_t dtype)
{
	return dtype == PCTL_DTYPE_I4 || dtype == PCTL_DTYPE_U4 || dtype == PCTL_DTYPE_I2 ||
	       dtype == PCTL_DTYPE_U2;
}

static pctl_status scattering_of(const kit_use *u, scattering *s)
{
	const pctl_tensor_type *x = &u->q->in[0], *index = &u->q->in[1];
	pctl_status status = tensor_movable(u, 0);

	*s = (scattering){.negative = kit_attr(u, ATTR_NEGATIVE) != 0};
	while (s->mode < MODES && strcmp(u->q->attr[ATTR_MODE].text, mode_names[s->mode]) != 0)
		s->mode++;
	if (s->mode == MODES)
		return kit_refuse_attr(u, "mode", "is not set, add, min, max, and, or or xor");
	if ((s->mode == ADD || s->mode == MIN || s->mode == MAX) && x->dtype == PCTL_SCALAR_BOOL)
		return kit_refuse_attr(u, "mode", "is set, and, or or xor where elements are bool");
	if (s->mode > ADD && tensor_is_float(x->dtype))
		return kit_refuse_attr(u, "mode", "is set or add where elements are floats");
	if (s->mode != SET && x->dtype == PCTL_SCALAR_F64)
		return kit_refuse_attr(u, "mode", "is set where elements are f64");
	if (s->mode != SET && x->dtype >= PCTL_DTYPE_F8E4M3 && !is_narrow_integer(x->dtype))
		return kit_refuse_attr(u, "mode",
				       "is set where elements are f8, f4, ternary or binary");
	if (status == PCTL_OK)
		status = tensor_lines_of(u, ATTR_AXIS, x, &s->x);
	if (status != PCTL_OK)
		return status;
	if (index->rank != x->rank)
		return kit_refuse_type(u, 1, "as many dimensions as x has");
	for (uint32_t d = 0; d < x->rank; d++)
		if (d != s->x.axis && index->dim[d] != x->dim[d])
			return kit_refuse_type(u, 1, "x's shape but along the axis");
	if (u->q->in[2].dtype != x->dtype || !kit_same_shape(&u->q->in[2], index))
		return kit_refuse_type(u, 2, "x's type and index's shape");
	s->m = index->dim[s->x.axis];
	status = kit_limit(u, "updates", kit_elements(index), TENSOR_ELEMENTS_MAX);
	return status != PCTL_OK
		       ? status
		       : kit_limit(u, "updates along the axis", s->m, TENSOR_TERMS_MAX - 1);
}

static pctl_status scatter_infer(const kit_use *u, pctl_op_result *out)
{
	scattering s;
	const pctl_status status = scattering_of(u, &s);

	if (status == PCTL_OK)
		out->out[0] = u->q->in[0];
	return status;
}

/* ---- kernels -------------------------------------------------------------------------------- */

/* How an update joins what is there; T of wider elements holds narrow ones without their sign. */
static void add_mode(tensor_kernel *k, uint32_t dtype, uint32_t mode)
{
	static const char *const joined[MODES] = {"b",
						  "a + b",
						  "select(b, a, order_key(a) <= order_key(b))",
						  "select(b, a, order_key(a) >= order_key(b))",
						  "a & b",
						  "a | b",
						  "a ^ b"};

	char mask[32] = ");\n}\n";

	tensor_kernel_order(k, dtype);
	kit_wgsl_add(&k->w, "fn joined(a: T, b: T) -> T {\n\treturn (");
	kit_wgsl_add(&k->w, joined[mode]);
	if (tensor_bits(dtype) < 32)
		snprintf(mask, sizeof(mask), ") & 0x%xu;\n}\n", (1u << tensor_bits(dtype)) - 1);
	kit_wgsl_add(&k->w, mask);
}

static void scatter_plan(kit_plan *p)
{
	const kit_use *u = p->use;
	const pctl_tensor_type *x = &u->q->in[0], *index = &u->q->in[1];
	const uint64_t n = kit_elements(index);
	const pctl_tensor_type t = kit_vector(PCTL_SCALAR_U32, n);
	uint32_t targets, positions, sorted, from;
	size_t begun;
	int parted;
	scattering s;
	tensor_kernel k;

	p->status = scattering_of(u, &s);
	if (p->status != PCTL_OK || kit_elements(x) == 0)
		return;
	if (n == 0) {
		kit_copy(p, kit_in(p, 0), 0, kit_out(p, 0), 0, (kit_bytes(x) + 3) / 4 * 4);
		return;
	}
	tensor_index_check(p, 1, s.x.n, s.negative);
	targets = kit_temp(p, 4 * n);
	positions = kit_temp(p, 4 * n);
	sorted = kit_temp(p, 4 * n);
	from = kit_temp(p, 4 * n);
	k = tensor_kernel_begin(p, "tensor/scatter_target.wgsl", n, 4, 0);
	tensor_kernel_index(&k, "index", index->dtype, s.x.n, s.negative, kit_in(p, 1));
	kit_wgsl_add(&k.w,
		     "fn product(i: u32) -> T {\n\treturn ((i / params.v[0].x / params.v[0].y) * "
		     "params.v[0].z + index_at(i)) * params.v[0].x + i % params.v[0].x;\n}\n");
	k.params.v[0][0] = (uint32_t)s.x.inner;
	k.params.v[0][1] = (uint32_t)s.m;
	k.params.v[0][2] = (uint32_t)s.x.n;
	tensor_kernel_run(&k, targets);
	k = tensor_kernel_begin(p, "tensor/order_start.wgsl", n, 4, 0);
	kit_wgsl_add(&k.w, "fn product(i: u32) -> T {\n\treturn i;\n}\n");
	tensor_kernel_run(&k, positions);
	kit_run_op(p, "tensor.sort_pairs", 1,
		   (kit_arg[]){{targets, t}, {positions, t}, {sorted, t}, {from, t}}, 4, NULL, 0);
	k = tensor_kernel_begin_of(p, "tensor/scatter.wgsl", kit_elements(x), x->dtype, s.m);
	tensor_kernel_read_of(&k, "x", x->dtype, kit_in(p, 0));
	tensor_kernel_read_of(&k, "updates", x->dtype, kit_in(p, 2));
	parted = tensor_kernel_bind_words(&k, "targets", sorted, n);
	(void)tensor_kernel_bind_words(&k, "updates_from", from, n);
	begun = k.w.n;
	kit_wgsl_add(&k.w, KERNEL_SCATTER_FIRST);
	if (s.mode == ADD && tensor_is_float(x->dtype)) {
		kit_wgsl_add(&k.w, tensor_float_format_of(x->dtype)->text);
		kit_wgsl_add(&k.w, "fn sum_scale() -> bool {\n\treturn false;\n}\n");
		kit_wgsl_add(&k.w, KERNEL_EXACT_SUM);
		tensor_kernel_read_bits(&k, "x", x->dtype, kit_in(p, 0));
		tensor_kernel_read_bits(&k, "updates", x->dtype, kit_in(p, 2));
		kit_wgsl_add(&k.w, KERNEL_SCATTER_ADD);
	} else {
		add_mode(&k, x->dtype, s.mode);
		kit_wgsl_add(&k.w, KERNEL_SCATTER);
	}
	if (parted) {
		kit_wgsl_called(&k.w, begun, "targets", "targets_word");
		kit_wgsl_called(&k.w, begun, "updates_from", "updates_from_word");
	}
	k.params.v[0][0] = (uint32_t)n;
	k.params.v[0][1] = (uint32_t)s.m;
	tensor_kernel_run(&k, kit_out(p, 0));
}

/* ---- plain C -------------------------------------------------------------------------------- */

static uint64_t joined(uint32_t dtype, uint32_t mode, uint64_t a, uint64_t b)
{
	const uint32_t unused = 64 - tensor_bits(dtype);
	const int is_less = tensor_is_signed(dtype)
				    ? (int64_t)(a << unused) < (int64_t)(b << unused)
				    : a << unused < b << unused;

	switch (mode) {
	case ADD:
		return (a + b) << unused >> unused;
	case MIN:
		return is_less ? a : b;
	case MAX:
		return is_less ? b : a;
	case AND:
		return a & b;
	case OR:
		return a | b;
	case XOR:
		return a ^ b;
	default:
		return b;
	}
}

/* Update by update in their order; float sums are kept exact beside the result until all are there. */
static pctl_status scatter_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	const uint32_t dtype = u->q->in[0].dtype;
	const uint64_t n = kit_elements(&u->q->in[0]);
	const tensor_float_format *f = tensor_float_format_of(dtype);
	tensor_sum *sums = NULL;
	uint8_t *is_hit = NULL;
	uint64_t at = 0;
	scattering s;
	pctl_status status = scattering_of(u, &s);

	if (status == PCTL_OK)
		status = tensor_index_refuse(u, 1, in[1].data, s.x.n, s.negative);
	if (status != PCTL_OK)
		return status;
	if (s.mode == ADD && f != NULL) {
		sums = kit_scratch(u, n * sizeof(*sums) + n);
		if (sums == NULL)
			return pctl_refuse(u->call, PC2_NOMEM, "no memory for sums");
		memset(sums, 0, n * sizeof(*sums) + n);
		is_hit = (uint8_t *)(sums + n);
	}
	for (uint64_t i = 0; i < n; i++)
		tensor_code_put(dtype, out[0].data, i, tensor_code(dtype, in[0].data, i));
	for (uint64_t o = 0; o < s.x.outer; o++)
		for (uint64_t j = 0; j < s.m; j++)
			for (uint64_t k = 0; k < s.x.inner; k++, at++) {
				const uint64_t row =
					tensor_index_of(u->q->in[1].dtype, in[1].data, at, s.x.n);
				const uint64_t to = (o * s.x.n + row) * s.x.inner + k;

				if (sums != NULL) {
					tensor_sum_product(&sums[to],
							   tensor_value(dtype, in[2].data, at), 1);
					is_hit[to] = 1;
					continue;
				}
				tensor_code_put(dtype, out[0].data, to,
						joined(dtype, s.mode,
						       tensor_code(dtype, out[0].data, to),
						       tensor_code(dtype, in[2].data, at)));
			}
	for (uint64_t i = 0; sums != NULL && i < n; i++) {
		if (!is_hit[i])
			continue;
		tensor_sum_product(&sums[i], tensor_value(dtype, in[0].data, i), 1);
		tensor_code_put(dtype, out[0].data, i, tensor_sum_round(&sums[i], 1, f));
	}
	kit_scratch_free(u, sums);
	return PCTL_OK;
}

/* ---- problems and laws ---------------------------------------------------------------------- */

static const pctl_op_problems scatter_problems = {
	PCTL_HEAD(pctl_op_problems),
	"tensors of up to 325 elements, indices in range and out of it", TENSOR_SHAPES * 14};

static void scatter_problem(kit_problem *p)
{
	static const uint32_t types[] = {PCTL_SCALAR_U32, PCTL_SCALAR_I32, PCTL_SCALAR_I64,
					 PCTL_SCALAR_U64};
	pctl_tensor_type x = tensor_problem_shapes[p->number % TENSOR_SHAPES], index = x;
	const uint32_t variant = (uint32_t)(p->number / TENSOR_SHAPES), axis = variant % x.rank;
	char text[8] = {(char)('0' + axis), '\0'};

	if (tensor_problem_of_others(p))
		return;
	if (p->number >= scatter_problems.n) {
		kit_problem_none(p);
		return;
	}
	x.dtype = p->dtype;
	index.dtype = types[p->number % 4];
	index.dim[axis] = x.dim[axis] == 0 ? 0 : (variant * 5 + 2) % 23;
	tensor_problem_attr(p, ATTR_AXIS, text);
	tensor_problem_attr(p, ATTR_MODE, mode_names[variant % MODES]);
	tensor_problem_attr(p, ATTR_NEGATIVE, variant % 4 == 1 ? "true" : "false");
	tensor_problem_fill(p, 0, &x, variant % TENSOR_KINDS);
	tensor_problem_index(p, 1, &index, x.dim[axis], variant % 4 == 1);
	index.dtype = p->dtype;
	tensor_problem_fill(p, 2, &index, (variant + 1) % TENSOR_KINDS);
	kit_problem_rigid(p);
}

/* The updates from the last to the first along the axis; of `set`, which does not commute, those that give one element one value. */
static void law_mirrored(kit_law *l)
{
	const pctl_op_query *q = l->use.q;
	const pctl_attr take[2] = {q->attr[ATTR_AXIS], q->attr[ATTR_NEGATIVE]};
	uint32_t in[3] = {0, 0, 0}, there[2] = {kit_law_out(l, 0), 0};
	tensor_lines lines;
	scattering s;

	if (scattering_of(&l->use, &s) != PCTL_OK)
		return;
	lines = (tensor_lines){s.x.outer, s.m, s.x.inner, 0};
	in[1] = there[1] = tensor_law_taken(l, &q->in[1], 1, tensor_law_mirrored, &lines);
	in[2] = s.mode == SET ? kit_law_use(l, "tensor.take_along", there, 2, take, 2, 1)
			      : tensor_law_taken(l, &q->in[2], 2, tensor_law_mirrored, &lines);
	kit_law_equal(l, kit_law_use(l, "tensor.scatter", in, 3, q->attr, 3, 1), kit_law_out(l, 0));
}

/* What was set is there, where no other update was set: what is set again to what is there changes nothing. */
static void law_taken(kit_law *l)
{
	const pctl_op_query *q = l->use.q;
	const pctl_attr take[2] = {q->attr[ATTR_AXIS], q->attr[ATTR_NEGATIVE]};
	const uint32_t y = kit_law_out(l, 0);
	uint32_t in[3] = {y, 1, 0};
	scattering s;

	if (scattering_of(&l->use, &s) != PCTL_OK || s.mode != SET)
		return;
	in[2] = kit_law_use(l, "tensor.take_along", in, 2, take, 2, 1);
	in[0] = 0;
	kit_law_equal(l, kit_law_use(l, "tensor.scatter", in, 3, q->attr, 3, 1), y);
}

/* ---- the op --------------------------------------------------------------------------------- */

static const pctl_port in[] = {{"x", TENSOR_ANY "[...]", "what is updated", 0, 0},
			       {"index", TENSOR_INDEX "[...]", "where along the axis", 0, 0},
			       {"updates", TENSOR_ANY "[...]", "with what, of x's type", 0, 0}};
static const pctl_port out[] = {{"y", TENSOR_ANY "[...]", "x with the updates", 0, 0}};
static const pctl_attr_desc attr[] = {
	{"axis", "0", "along which; a negative one counts from the end", PCTL_ATTR_I64, 0, 0, 0},
	{"mode", "set",
	 "set (the last wins), add, or of integers min, max, and, or, xor; of f64, f8, f4, ternary "
	 "and binary set alone",
	 PCTL_ATTR_STRING, 0, 0, 0},
	{"negative", "false", "negative indices count from the end; else they are out of range",
	 PCTL_ATTR_BOOL, 0, 0, 1},
};
static const pctl_law scatter_laws[] = {
	TENSOR_LAW("mirrored",
		   "the updates in the opposite order along the axis, of set what y has at "
		   "the indices, give the same y"),
	TENSOR_LAW("taken", "set: what y has at the indices, set instead of the updates, gives y"),
};
static void (*const scatter_checks[])(kit_law *) = {law_mirrored, law_taken};

static const kit_op ops[] = {
	TENSOR_OP(
		scatter, 1, "tensor.scatter",
		"elements updated along an axis, by a tensor of indices",
		"y is x; each updates[o, j, k] goes to y[o, index[o, j, k], k]. set: of several "
		"the "
		"one at the highest position; add: of\nintegers modulo 2^width, of floats x's "
		"element "
		"and all updates added exactly and rounded once; min, max, and, or, xor "
		"of\nintegers. "
		"An index out of range fails the job: the lowest position is named, and the number "
		"there.\nAt most 2^29 - 1 updates along the axis.",
		PCTL_CLASS_STRICT, in, 3, out, attr, 3, NULL),
};

const kit_family tensor_scatter_family = {ops, NULL, KIT_COUNT(ops), 0};
