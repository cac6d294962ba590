/* tensor.concat and tensor.stack: a list of tensors joined along an axis, or along a new one (SEMANTICS.md 16.5). */
#include "common/tensors/elements.h"
#include "kernels.h"

static const uint32_t stacks = 1;

/* y seen as [outer, n, inner]; of each input, how many of the n it gives (1 where they are stacked). */
typedef struct joining {
	tensor_lines y;
	uint64_t of[PCTL_PORTS_MAX];
	pctl_tensor_type out;
} joining;

static pctl_status joining_of(const kit_use *u, joining *j)
{
	const pctl_tensor_type *first = &u->q->in[0];
	const int stacking = u->op->data != NULL;
	const int64_t named = (int64_t)kit_attr(u, 0), rank = (int64_t)first->rank + stacking;
	const int64_t axis = named < 0 ? named + rank : named;
	pctl_status status = PCTL_OK;

	*j = (joining){.y = {1, 0, 1, 0}, .out = *first};
	if (axis < 0 || axis >= rank)
		return kit_refuse_attr(u, "axis", "names an axis that y has not");
	if (rank > (int64_t)PCTL_RANK_MAX)
		return kit_refuse_type(u, 0, "at most 7 dimensions");
	j->y.axis = (uint32_t)axis;
	for (uint32_t i = 0; i < u->q->n_in && status == PCTL_OK; i++) {
		const pctl_tensor_type *t = &u->q->in[i];

		status = tensor_movable(u, i);
		if (status == PCTL_OK && (t->dtype != first->dtype || t->rank != first->rank))
			status = kit_refuse_type(u, i,
						 "the type and number of dimensions of the first");
		for (uint32_t d = 0; d < t->rank && status == PCTL_OK; d++)
			if ((stacking || d != j->y.axis) && t->dim[d] != first->dim[d])
				status = kit_refuse_type(u, i, "a shape that fits the first's");
		if (status == PCTL_OK) {
			j->of[i] = stacking ? 1 : t->dim[j->y.axis];
			j->y.n += j->of[i];
		}
	}
	if (status != PCTL_OK)
		return status;
	for (uint32_t d = 0; d < first->rank; d++)
		if (d < j->y.axis)
			j->y.outer *= first->dim[d];
		else if (stacking || d > j->y.axis)
			j->y.inner *= first->dim[d];
	for (uint32_t d = first->rank; stacking && d > j->y.axis; d--)
		j->out.dim[d] = first->dim[d - 1];
	j->out.rank = (uint32_t)rank;
	j->out.dim[j->y.axis] = j->y.n;
	return kit_limit(u, "elements", kit_elements(&j->out), TENSOR_ELEMENTS_MAX);
}

static pctl_status join_infer(const kit_use *u, pctl_op_result *out)
{
	joining j;
	const pctl_status status = joining_of(u, &j);

	if (status == PCTL_OK)
		out->out[0] = j.out;
	return status;
}

/* Each input is put into what was joined before it, so that a kernel reads two: the elements of `so far`, then those of the input. */
static void join_plan(kit_plan *p)
{
	const uint32_t dtype = p->use->q->in[0].dtype, n_in = p->use->q->n_in;
	uint32_t before = kit_in(p, 0);
	uint64_t n;
	joining j;

	p->status = joining_of(p->use, &j);
	if (p->status != PCTL_OK)
		return;
	n = j.of[0];
	for (uint32_t i = n_in == 1 ? 0 : 1; i < n_in; i++) {
		const uint64_t more = i == 0 ? 0 : j.of[i],
			       count = j.y.outer * (n + more) * j.y.inner;
		const pctl_tensor_type so_far = kit_vector(dtype, count);
		const uint32_t to = i + 1 == n_in ? kit_out(p, 0)
						  : kit_temp(p, (kit_bytes(&so_far) + 7) / 4 * 4);
		tensor_kernel k = tensor_kernel_begin_of(p, "tensor/join.wgsl", count, dtype, 0);

		tensor_kernel_read_of(&k, "a", dtype, before);
		tensor_kernel_read_of(&k, "b", dtype, kit_in(p, i));
		kit_wgsl_add(&k.w, KERNEL_JOIN);
		k.params.v[0][0] = (uint32_t)(n * j.y.inner);
		k.params.v[0][1] = (uint32_t)(more * j.y.inner);
		tensor_kernel_run(&k, to);
		before = to;
		n += more;
	}
}

static pctl_status join_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	const uint32_t dtype = u->q->in[0].dtype;
	uint64_t to = 0;
	joining j;
	const pctl_status status = joining_of(u, &j);

	for (uint64_t o = 0; status == PCTL_OK && o < j.y.outer; o++)
		for (uint32_t i = 0; i < u->q->n_in; i++) {
			const uint64_t n = j.of[i] * j.y.inner;

			for (uint64_t k = 0; k < n; k++, to++)
				tensor_code_put(dtype, out[0].data, to,
						tensor_code(dtype, in[i].data, o * n + k));
		}
	return status;
}

/* ---- problems and laws ---------------------------------------------------------------------- */

static const pctl_op_problems join_problems = {PCTL_HEAD(pctl_op_problems),
					       "one to sixteen tensors of up to 325 elements",
					       TENSOR_SHAPES * 5};

static void join_problem(kit_problem *p)
{
	static const uint32_t numbers[] = {1, 2, 3, 5, 16};
	const pctl_tensor_type shape = tensor_problem_shapes[p->number % TENSOR_SHAPES];
	const uint32_t variant = (uint32_t)(p->number / TENSOR_SHAPES) % 5,
		       axis = variant % shape.rank;
	const char text[8] = {(char)('0' + axis), '\0'};

	if (tensor_problem_of_others(p))
		return;
	tensor_problem_attr(p, 0, variant == 1 ? "-1" : text);
	for (uint32_t i = 0; i < numbers[variant]; i++) {
		pctl_tensor_type t = shape;

		t.dtype = p->dtype;
		if (p->use.op->data == NULL && variant != 1 && t.dim[axis] != 0)
			t.dim[axis] = (t.dim[axis] + i) % 7;
		tensor_problem_fill(p, i, &t, TENSOR_BITS);
	}
	kit_problem_rigid(p);
}

/* The first two joined, or the first alone, and the rest to that: only of concat; of stack, each of y is what was put in. */
static void law_apart(kit_law *l)
{
	const pctl_op_query *q = l->use.q;
	const uint32_t y = kit_law_out(l, 0);
	uint32_t in[PCTL_PORTS_MAX], first;
	pctl_attr taken[2] = {{"axis", q->attr[0].text, 0}, {"negative", "false", 0}};

	if (l->use.op->data == NULL) {
		for (uint32_t i = 0; i < q->n_in; i++)
			in[i] = i;
		if (q->n_in < 3)
			return;
		first = kit_law_use(l, "tensor.concat", in, 2, q->attr, 1, 1);
		in[1] = first;
		kit_law_equal(
			l, kit_law_use(l, "tensor.concat", in + 1, q->n_in - 1, q->attr, 1, 1), y);
		return;
	}
	for (uint32_t i = 0; i < q->n_in; i++) {
		/* An index without dimensions takes the axis away. */
		const pctl_tensor_type scalar = {.dtype = PCTL_SCALAR_U32};

		in[0] = y;
		in[1] = kit_law_tensor(l, &scalar, &i);
		kit_law_equal(l, kit_law_use(l, "tensor.gather", in, 2, taken, 2, 1), i);
	}
}

/* ---- the ops -------------------------------------------------------------------------------- */

static const pctl_port join_in[] = {
	{"xs", TENSOR_ANY "[...]", "the tensors, of one type", PCTL_PORT_LIST, 0}};
static const pctl_port join_out[] = {{"y", TENSOR_ANY "[...]", "all of them, of their type", 0, 0}};
static const pctl_attr_desc join_attr[] = {
	{"axis", "0", "along which; a negative one counts from the end", PCTL_ATTR_I64, 0, 0, 0},
};
static const pctl_law concat_laws[] = {TENSOR_LAW(
	"apart", "of three or more: the first two joined, and then the rest to that, give y")};
static const pctl_law stack_laws[] = {
	TENSOR_LAW("apart", "each tensor is what tensor.gather takes from y")};
static void (*const concat_checks[])(kit_law *) = {law_apart};
#define stack_checks concat_checks
#define concat_problems join_problems
#define concat_problem join_problem
#define concat_infer join_infer
#define concat_plan join_plan
#define concat_reference join_reference
#define stack_problems join_problems
#define stack_problem join_problem
#define stack_infer join_infer
#define stack_plan join_plan
#define stack_reference join_reference

static const kit_op ops[] = {
	TENSOR_OP(
		concat, 1, "tensor.concat", "a list of tensors joined along an axis",
		"The tensors one behind another along the axis, in order; other dimensions agree.",
		PCTL_CLASS_INTEGER, join_in, 1, join_out, join_attr, 1, NULL),
	TENSOR_OP(stack, 1, "tensor.stack",
		  "a list of tensors of one shape joined along a new axis",
		  "The tensors one behind another along a new axis, in order.", PCTL_CLASS_INTEGER,
		  join_in, 1, join_out, join_attr, 1, &stacks),
};

const kit_family tensor_join_family = {ops, NULL, KIT_COUNT(ops), 0};
