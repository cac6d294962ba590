/* tensor.pad, flip and roll: elements moved (SEMANTICS.md 16.5). */
#include <stdio.h>

#include "common/tensors/elements.h"
#include "kernels.h"

/* Dimension d of the result, the innermost first, as move.wgsl has it: element c of it is element source(c + start) of the input's n. */
typedef struct mapping {
	uint64_t out_n, n;
	int64_t start;
	int flipped;
} mapping;

enum { CONSTANT, EDGE, REFLECT, WRAP, MODES };
static const char *const modes[] = {"constant", "edge", "reflect", "wrap"};

typedef struct moving {
	uint32_t mode;
	mapping dim[PCTL_RANK_MAX];
	pctl_tensor_type out;
} moving;

enum { OP_PAD, OP_FLIP, OP_ROLL };
static const uint32_t pads = OP_PAD, flips = OP_FLIP, rolls = OP_ROLL;

static uint32_t op_of(const kit_use *u)
{
	return *(const uint32_t *)u->op->data;
}

enum { ATTR_BEFORE, ATTR_AFTER, ATTR_MODE };
enum { ATTR_AXES, ATTR_SHIFTS };

static pctl_status padding(const kit_use *u, moving *m)
{
	const pctl_tensor_type *x = &u->q->in[0];
	int64_t by[2][PCTL_RANK_MAX];

	for (m->mode = 0; m->mode < WRAP; m->mode++)
		if (strcmp(u->q->attr[ATTR_MODE].text, modes[m->mode]) == 0)
			break;
	if (m->mode == WRAP)
		return kit_refuse_attr(u, "mode", "is not constant, edge or reflect");
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t n;
		const pctl_status status = tensor_numbers_of(u, i, 0, x->rank, by[i], &n);

		if (status != PCTL_OK)
			return status;
		for (; n < x->rank; n++)
			by[i][n] = 0;
	}
	for (uint32_t d = 0; d < x->rank; d++) {
		const uint64_t n = x->dim[d], more = (uint64_t)(by[0][d] + by[1][d]);
		const uint64_t reach = (uint64_t)(by[0][d] > by[1][d] ? by[0][d] : by[1][d]);

		if (m->mode == CONSTANT && more != 0 && x->dtype == PCTL_DTYPE_BINARY)
			return kit_refuse_attr(u, "mode", "pads with zeros, and no binary is one");
		if (m->mode == EDGE && n == 0 && more != 0)
			return kit_refuse_attr(u, "mode", "finds no element to repeat");
		if (m->mode == REFLECT && reach != 0 && reach >= n)
			return kit_refuse_attr(u, "mode",
					       "reflects at most one element fewer than there are");
		m->dim[x->rank - 1 - d] = (mapping){n + more, n, -by[0][d], 0};
		m->out.dim[d] = n + more;
	}
	return PCTL_OK;
}

static pctl_status turning(const kit_use *u, moving *m)
{
	const pctl_tensor_type *x = &u->q->in[0];
	const int rolling = op_of(u) == OP_ROLL;
	int64_t axis[PCTL_RANK_MAX], shift[PCTL_RANK_MAX];
	uint32_t n, n_shifts, seen = 0;
	pctl_status status =
		tensor_numbers_of(u, ATTR_AXES, -(int64_t)PCTL_RANK_MAX, x->rank, axis, &n);

	if (status == PCTL_OK && rolling)
		status = tensor_numbers_of(u, ATTR_SHIFTS, -(int64_t)TENSOR_ELEMENTS_MAX, x->rank,
					   shift, &n_shifts);
	if (status != PCTL_OK)
		return status;
	if (rolling && n_shifts != n)
		return kit_refuse_attr(u, "shifts", "has not as many numbers as there are axes");
	m->mode = WRAP;
	for (uint32_t d = 0; d < x->rank; d++)
		m->dim[d] = (mapping){x->dim[x->rank - 1 - d], x->dim[x->rank - 1 - d], 0, 0};
	for (uint32_t i = 0; i < n; i++) {
		const int64_t d = axis[i] < 0 ? axis[i] + x->rank : axis[i];
		mapping *to;

		if (d < 0 || d >= x->rank)
			return kit_refuse_attr(u, "axes", "names an axis that x has not");
		if (seen >> d & 1)
			return kit_refuse_attr(u, "axes", "names an axis twice");
		seen |= 1u << d;
		to = &m->dim[x->rank - 1 - d];
		to->flipped = !rolling;
		if (rolling && to->n != 0) {
			const int64_t by = shift[i] % (int64_t)to->n;

			to->start = by > 0 ? (int64_t)to->n - by : -by;
		}
	}
	return PCTL_OK;
}

static pctl_status moving_of(const kit_use *u, moving *m)
{
	const pctl_tensor_type *x = &u->q->in[0];
	pctl_status status = tensor_movable(u, 0);

	*m = (moving){.out = *x};
	for (uint32_t d = 0; d < PCTL_RANK_MAX; d++)
		m->dim[d] = (mapping){1, 1, 0, 0};
	if (status == PCTL_OK)
		status = op_of(u) == OP_PAD ? padding(u, m) : turning(u, m);
	return status != PCTL_OK
		       ? status
		       : kit_limit(u, "elements", kit_elements(&m->out), TENSOR_ELEMENTS_MAX);
}

static pctl_status move_infer(const kit_use *u, pctl_op_result *out)
{
	moving m;
	const pctl_status status = moving_of(u, &m);

	if (status == PCTL_OK)
		out->out[0] = m.out;
	return status;
}

static void move_plan(kit_plan *p)
{
	static const char *const sources[MODES] = {
		"\treturn select(-1, s, s >= 0 && s < n);\n", "\treturn clamp(s, 0, n - 1);\n",
		"\tlet a = abs(s);\n\treturn select(a, 2 * (n - 1) - a, a >= n);\n",
		"\treturn i32(u32(s) % u32(n));\n"};
	const uint32_t dtype = p->use->q->in[0].dtype;
	uint64_t stride = 1;
	tensor_kernel k;
	moving m;

	p->status = moving_of(p->use, &m);
	if (p->status != PCTL_OK)
		return;
	k = tensor_kernel_begin_of(p, "tensor/move.wgsl", kit_elements(&m.out), dtype, 0);
	tensor_kernel_read_of(&k, "x", dtype, kit_in(p, 0));
	kit_wgsl_add(&k.w, "fn source(s: i32, n: i32) -> i32 {\n");
	kit_wgsl_add(&k.w, sources[m.mode]);
	kit_wgsl_add(&k.w, "}\n");
	kit_wgsl_add(&k.w, KERNEL_MOVE);
	for (uint32_t d = 0; d < PCTL_RANK_MAX; d++) {
		k.params.v[d][0] = (uint32_t)m.dim[d].out_n;
		k.params.v[d][1] = (uint32_t)m.dim[d].n;
		k.params.v[d][2] = (uint32_t)m.dim[d].start;
		k.params.v[d][3] = (uint32_t)m.dim[d].flipped;
		k.params.v[8 + d][0] = (uint32_t)stride;
		stride *= m.dim[d].n;
	}
	tensor_kernel_run(&k, kit_out(p, 0));
}

/* By coordinates of the result; 1 when they lie within x. */
static int came_from(const kit_use *u, const moving *m, uint64_t i, uint64_t *from)
{
	const pctl_tensor_type *x = &u->q->in[0];
	uint64_t stride = 1;

	*from = 0;
	for (uint32_t d = x->rank; d-- > 0; stride *= x->dim[d]) {
		const mapping *a = &m->dim[x->rank - 1 - d];
		const int64_t n = (int64_t)x->dim[d];
		int64_t c = (int64_t)(i % m->out.dim[d]) + a->start;

		i /= m->out.dim[d];
		if (a->flipped)
			c = n - 1 - c;
		if (m->mode == CONSTANT && (c < 0 || c >= n))
			return 0;
		while (m->mode == EDGE && c < 0)
			c = 0;
		while (m->mode == EDGE && c >= n)
			c = n - 1;
		if (m->mode == REFLECT && c < 0)
			c = -c;
		if (m->mode == REFLECT && c >= n)
			c = n - 1 - (c - (n - 1));
		while (m->mode == WRAP && c >= n)
			c -= n;
		*from += (uint64_t)c * stride;
	}
	return 1;
}

static pctl_status move_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	const uint32_t dtype = u->q->in[0].dtype;
	moving m;
	const pctl_status status = moving_of(u, &m);

	for (uint64_t i = 0; status == PCTL_OK && i < kit_elements(&m.out); i++) {
		uint64_t from;

		tensor_code_put(dtype, out[0].data, i,
				came_from(u, &m, i, &from) ? tensor_code(dtype, in[0].data, from)
							   : 0);
	}
	return status;
}

static const pctl_op_problems move_problems = {
	PCTL_HEAD(pctl_op_problems), "tensors of up to 325 elements, of one to four dimensions",
	TENSOR_SHAPES * 6};

static void move_problem(kit_problem *p)
{
	static const char *const before[] = {"", "1", "0,2", "2,1,1", "1,1", "3"};
	static const char *const after[] = {"2", "1", "1", "0,1,1,1", "1", "0,0"};
	static const char *const axes[] = {"0", "-1", "", "1,0", "0,2", "-2"};
	static const char *const shifts[] = {"1", "-1", "", "3,-70", "1,1", "2147483648"};
	pctl_tensor_type x = tensor_problem_shapes[p->number % TENSOR_SHAPES];
	const uint32_t variant = (uint32_t)(p->number / TENSOR_SHAPES) % 6;

	if (tensor_problem_of_others(p))
		return;
	x.dtype = p->dtype;
	if (op_of(&p->use) == OP_PAD) {
		tensor_problem_attr(p, ATTR_BEFORE, before[variant]);
		tensor_problem_attr(p, ATTR_AFTER, after[variant]);
		tensor_problem_attr(
			p, ATTR_MODE,
			modes[p->dtype == PCTL_DTYPE_BINARY ? EDGE + (variant + p->number) % 2
							    : (variant + p->number) % 3]);
	} else {
		tensor_problem_attr(p, ATTR_AXES, axes[variant]);
		if (op_of(&p->use) == OP_ROLL)
			tensor_problem_attr(p, ATTR_SHIFTS, shifts[variant]);
	}
	tensor_problem_fill(p, 0, &x, TENSOR_BITS);
	kit_problem_rigid(p);
}

/* Along axis 0 of y from its end. */
static uint32_t mirrored(kit_law *l, uint32_t tensor)
{
	const pctl_tensor_type *t = &l->c->types[tensor];
	const tensor_lines s = {1, t->dim[0], kit_elements(t) / (t->dim[0] + !t->dim[0]), 0};

	return tensor_law_taken(l, t, tensor, tensor_law_mirrored, &s);
}

/* With the numbers for axis 0 changed about. */
static void law_pad_mirrored(kit_law *l)
{
	const pctl_op_query *q = l->use.q;
	const char *first = kit_law_attr(l, "before"), *second = kit_law_attr(l, "after");
	const size_t a = strcspn(first, ","), b = strcspn(second, ",");
	char before[64], after[64];
	pctl_attr attr[3];
	uint32_t x;

	if (kit_elements(&q->in[0]) == 0)
		return;
	snprintf(before, sizeof(before), "%.*s%s", (int)b, second, first + a);
	snprintf(after, sizeof(after), "%.*s%s", (int)a, first, second + b);
	/* "" is no number, so one that goes to the front of others is a 0. */
	if (before[0] == ',' || after[0] == ',')
		return;
	attr[0] = (pctl_attr){"before", before, 0};
	attr[1] = (pctl_attr){"after", after, 0};
	attr[2] = q->attr[ATTR_MODE];
	x = mirrored(l, 0);
	kit_law_equal(l, kit_law_use(l, "tensor.pad", &x, 1, attr, 3, 1),
		      mirrored(l, kit_law_out(l, 0)));
}

static void law_back(kit_law *l)
{
	const pctl_op_query *q = l->use.q;
	const char *text = kit_law_attr(l, "shifts");
	uint32_t y = kit_law_out(l, 0);
	pctl_attr attr[2] = {q->attr[0], {"shifts", NULL, 0}};
	char shifts[128];
	size_t n = 0;

	/* Each number with its sign turned. */
	for (const char *at = text; *at != '\0' && n + 3 < sizeof(shifts); at++) {
		if ((at == text || at[-1] == ',') && *at != '-')
			shifts[n++] = '-';
		if (*at != '-')
			shifts[n++] = *at;
	}
	shifts[n] = '\0';
	attr[1].text = shifts;
	kit_law_equal(l, kit_law_use(l, l->use.op->desc.name, &y, 1, attr, q->n_attr, 1), 0);
}

/* ---- the ops -------------------------------------------------------------------------------- */

static const pctl_port one_in[] = {{"x", TENSOR_ANY "[...]", "the elements", 0, 0}};
static const pctl_port one_out[] = {{"y", TENSOR_ANY "[...]", "the result, of x's type", 0, 0}};
static const pctl_attr_desc pad_attr[] = {
	{"before", "", "elements before each axis, between commas, from axis 0 on; the rest 0",
	 PCTL_ATTR_STRING, 0, 0, 0},
	{"after", "", "elements behind each axis", PCTL_ATTR_STRING, 0, 0, 0},
	{"mode", "constant", "constant (zeros), edge or reflect", PCTL_ATTR_STRING, 0, 0, 0},
};
static const pctl_attr_desc turn_attr[] = {
	{"axes", "", "numbers of axes between commas, negative ones from the end", PCTL_ATTR_STRING,
	 0, 0, 0},
	{"shifts", "", "how far, for each of these axes", PCTL_ATTR_STRING, 0, 0, 0},
};

static const pctl_law pad_laws[] = {TENSOR_LAW(
	"mirrored", "of x from its end, before and after changed about, y from its end")};
static void (*const pad_checks[])(kit_law *) = {law_pad_mirrored};
static const pctl_law turn_laws[] = {
	TENSOR_LAW("back", "flipped again, or rolled by the negative shifts, y is x")};
static void (*const turn_checks[])(kit_law *) = {law_back};

#define pad_problems move_problems
#define pad_problem move_problem
#define pad_infer move_infer
#define pad_plan move_plan
#define pad_reference move_reference
#define turn_problems move_problems
#define turn_problem move_problem
#define turn_infer move_infer
#define turn_plan move_plan
#define turn_reference move_reference

static const kit_op ops[] = {
	TENSOR_OP(pad, 1, "tensor.pad", "elements added before and after along each axis",
		  "constant: all bits 0, refused of binary, whose codes are -1 and 1; edge: the "
		  "nearest element; reflect: the element as far\n"
		  "within as the place is without, at most n - 1 of them.",
		  PCTL_CLASS_INTEGER, one_in, 1, one_out, pad_attr, 3, &pads),
	TENSOR_OP(turn, 1, "tensor.flip", "axes reversed",
		  "y[.., i, ..] = x[.., n - 1 - i, ..] along each axis named; no axis leaves x.",
		  PCTL_CLASS_INTEGER, one_in, 1, one_out, turn_attr, 1, &flips),
	TENSOR_OP(turn, 1, "tensor.roll", "elements moved along axes, around the end",
		  "y[.., (i + shift) mod n, ..] = x[.., i, ..] along each axis named.",
		  PCTL_CLASS_INTEGER, one_in, 1, one_out, turn_attr, 2, &rolls),
};

const kit_family tensor_move_family = {ops, NULL, KIT_COUNT(ops), 0};
