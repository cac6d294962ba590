/* Laws of the views, as equations between tensors that the device answers, and their problems: shapes of up to four axes with an
 * extent of 0 or 1 here and there. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/tensors/value.h"
#include "view.h"

#define PROBLEMS 24u
#define TEXT 160u

const pctl_op_problems tensor_view_problems = {PCTL_HEAD(pctl_op_problems),
					       "tensors of up to four axes", PROBLEMS};

/* ---- problems ----------------------------------------------------------------------------- */

static void add(char text[TEXT], int64_t v)
{
	const size_t n = strlen(text);

	snprintf(text + n, TEXT - n, n == 0 ? "%" PRId64 : ",%" PRId64, v);
}

/* An input of a shape that number and seed tell; 0: not one of them. */
static int put_input(kit_problem *p, pctl_tensor_type *x)
{
	uint64_t bytes;
	uint8_t *data;

	*x = (pctl_tensor_type){.dtype = p->dtype};
	if (p->number >= PROBLEMS) {
		kit_problem_none(p);
		return 0;
	}
	x->rank = (uint32_t)(p->number % 4) + 1;
	for (uint32_t d = 0; d < x->rank; d++) {
		const uint64_t v = kit_random(p->seed, p->number * 8 + d);

		x->dim[d] = v % 11 == 0 ? 0 : v % 5 == 0 ? 1 : 1 + (v >> 8) % (d == 0 ? 37 : 9);
	}
	bytes = kit_bytes(x);
	data = kit_scratch(&p->use, bytes);
	for (uint64_t i = 0; data != NULL && i < bytes; i++)
		data[i] = (uint8_t)kit_random(p->seed ^ 77, (p->number << 20) + i);
	if (data != NULL)
		tensor_mend(x->dtype, data, kit_elements(x), bytes);
	if (data == NULL) {
		p->status = PCTL_E_NOMEM;
		return 0;
	}
	kit_problem_input(p, 0, x, data);
	kit_scratch_free(&p->use, data);
	return p->status == PCTL_OK;
}

void tensor_reshape_problem(kit_problem *p)
{
	char text[TEXT] = "";
	pctl_tensor_type x;

	if (!put_input(p, &x))
		return;
	/* The extents backwards, the last two as one, or all as one. */
	for (uint32_t d = x.rank; d-- > 0;)
		add(text, (int64_t)x.dim[d]);
	if (p->number % 3 == 1 && kit_elements(&x) != 0) {
		text[0] = '\0';
		for (uint32_t d = 0; d + 2 < x.rank; d++)
			add(text, (int64_t)x.dim[d]);
		add(text, -1);
	}
	if (p->number % 3 != 2)
		kit_problem_attr_text(p, 0, text);
}

void tensor_transpose_problem(kit_problem *p)
{
	char text[TEXT] = "";
	pctl_tensor_type x;

	if (!put_input(p, &x))
		return;
	for (uint32_t d = 0; d < x.rank; d++)
		add(text, (int64_t)((d + p->number / 4) % x.rank));
	if (p->number % 3 != 2)
		kit_problem_attr_text(p, 0, text);
}

void tensor_slice_problem(kit_problem *p)
{
	char start[TEXT] = "", stop[TEXT] = "", step[TEXT] = "";
	pctl_tensor_type x;

	if (!put_input(p, &x))
		return;
	for (uint32_t d = 0; d < x.rank; d++) {
		const uint64_t v = kit_random(p->seed ^ 5, p->number * 8 + d);

		add(start, (int64_t)(v % 4) - (v % 7 == 0 ? 3 : 0));
		add(stop, v % 3 == 0 ? -1 : (int64_t)(v >> 8) % 40);
		add(step, 1 + (int64_t)(v >> 16) % 3);
	}
	kit_problem_attr_text(p, 0, start);
	kit_problem_attr_text(p, 1, stop);
	kit_problem_attr_text(p, 2, step);
}

void tensor_broadcast_problem(kit_problem *p)
{
	char text[TEXT] = "";
	pctl_tensor_type x;

	if (!put_input(p, &x))
		return;
	if (p->number % 2 == 0)
		add(text, 3);
	for (uint32_t d = 0; d < x.rank; d++)
		add(text, x.dim[d] == 1 ? (int64_t)(p->number % 6) : (int64_t)x.dim[d]);
	kit_problem_attr_text(p, 0, text);
}

/* ---- laws --------------------------------------------------------------------------------- */

static const pctl_tensor_type *type_of(const kit_law *l, uint32_t tensor)
{
	return &l->c->types[tensor];
}

static uint32_t with(kit_law *l, const char *op, uint32_t x, const char *name, const char *text)
{
	const pctl_attr attr = {name, text, 0};

	return kit_law_use(l, op, &x, 1, &attr, name == NULL ? 0 : 1, 1);
}

static void extents(const pctl_tensor_type *t, char text[TEXT])
{
	text[0] = '\0';
	for (uint32_t d = 0; d < t->rank; d++)
		add(text, (int64_t)t->dim[d]);
}

static void reshape_back(kit_law *l)
{
	char text[TEXT];

	extents(type_of(l, 0), text);
	kit_law_equal(l, with(l, "tensor.reshape", kit_law_out(l, 0), "shape", text), 0);
}

static void reshape_flat(kit_law *l)
{
	kit_law_equal(l, with(l, "tensor.reshape", kit_law_out(l, 0), "shape", "-1"),
		      with(l, "tensor.reshape", 0, "shape", "-1"));
}

/* The axes that were asked for; the last first where none were. */
static void axes_of(const kit_law *l, int64_t axes[PCTL_RANK_MAX])
{
	const uint32_t rank = type_of(l, 0)->rank;
	const char *text = kit_law_attr(l, "axes");

	for (uint32_t d = 0; d < rank; d++) {
		axes[d] = (int64_t)(rank - 1 - d);
		if (*text != '\0') {
			char *end;

			axes[d] = strtol(text, &end, 10);
			text = end + (*end == ',');
		}
	}
}

static void transpose_twice(kit_law *l)
{
	const uint32_t rank = type_of(l, 0)->rank;
	int64_t axes[PCTL_RANK_MAX];
	char text[TEXT] = "";

	axes_of(l, axes);
	for (uint32_t d = 0; d < rank; d++)
		for (uint32_t k = 0; k < rank; k++)
			if (axes[k] == (int64_t)d)
				add(text, k);
	kit_law_equal(l, with(l, "tensor.transpose", kit_law_out(l, 0), "axes", text), 0);
}

/* Exchanging two neighbours and then what is left of the permutation. */
static void transpose_in_steps(kit_law *l)
{
	const uint32_t rank = type_of(l, 0)->rank;
	int64_t axes[PCTL_RANK_MAX];
	char first[TEXT] = "", second[TEXT] = "";

	if (rank < 2)
		return;
	axes_of(l, axes);
	for (uint32_t d = 0; d < rank; d++) {
		add(first, d < 2 ? 1 - (int64_t)d : (int64_t)d);
		add(second, axes[d] < 2 ? 1 - axes[d] : axes[d]);
	}
	kit_law_equal(l,
		      with(l, "tensor.transpose", with(l, "tensor.transpose", 0, "axes", first),
			   "axes", second),
		      kit_law_out(l, 0));
}

static void slice_in_steps(kit_law *l)
{
	const pctl_attr range[2] = {{"start", kit_law_attr(l, "start"), 0},
				    {"stop", kit_law_attr(l, "stop"), 0}};
	const uint32_t x = 0;
	const uint32_t run = kit_law_use(l, "tensor.slice", &x, 1, range, 2, 1);

	kit_law_equal(l, with(l, "tensor.slice", run, "step", kit_law_attr(l, "step")),
		      kit_law_out(l, 0));
}

static void put_element(uint32_t dtype, uint8_t *to, uint64_t to_at, const uint8_t *from,
			uint64_t from_at)
{
	const uint64_t bytes = tensor_bits(dtype) / 8;

	if (bytes == 0)
		tensor_code_put(dtype, to, to_at, tensor_code(dtype, from, from_at));
	else
		memcpy(to + to_at * bytes, from + from_at * bytes, bytes);
}

/* Even and odd elements of the first axis of y lie where y has them. */
static void slice_parts(kit_law *l)
{
	const uint32_t y = kit_law_out(l, 0);
	const pctl_tensor_type *t = type_of(l, y);
	const uint64_t row = t->dim[0] == 0 ? 0 : kit_elements(t) / t->dim[0];
	uint8_t *want = row == 0 ? NULL : kit_law_scratch(l, kit_law_bytes(l, y));

	for (uint64_t odd = 0; odd < 2 && want != NULL; odd++) {
		const pctl_attr attr[2] = {{"start", odd ? "1" : "0", 0}, {"step", "2", 0}};
		pctl_tensor_type half = *t;

		half.dim[0] = 0;
		memset(want, 0, kit_law_bytes(l, y));
		for (uint64_t i = odd; i < t->dim[0]; i += 2, half.dim[0]++)
			for (uint64_t k = 0; k < row; k++)
				put_element(t->dtype, want, half.dim[0] * row + k,
					    kit_law_data(l, y), i * row + k);
		kit_law_equal(l, kit_law_use(l, "tensor.slice", &y, 1, attr, 2, 1),
			      kit_law_tensor(l, &half, want));
	}
	kit_law_free(l, want);
}

static void broadcast_again(kit_law *l)
{
	kit_law_equal(
		l,
		with(l, "tensor.broadcast", kit_law_out(l, 0), "shape", kit_law_attr(l, "shape")),
		kit_law_out(l, 0));
}

/* The first of what was repeated is x. */
static void broadcast_back(kit_law *l)
{
	const pctl_tensor_type *x = type_of(l, 0), *y = type_of(l, kit_law_out(l, 0));
	char stop[TEXT] = "", shape[TEXT];
	uint32_t first;

	for (uint32_t d = 0; d < y->rank; d++) {
		const uint32_t ahead = y->rank - x->rank;

		add(stop, d < ahead || x->dim[d - ahead] == 1 ? 1 : (int64_t)y->dim[d]);
		if ((d < ahead || x->dim[d - ahead] == 1) && y->dim[d] == 0)
			return;
	}
	extents(x, shape);
	first = with(l, "tensor.slice", kit_law_out(l, 0), "stop", stop);
	kit_law_equal(l, with(l, "tensor.reshape", first, "shape", shape), 0);
}

#define JUDGED(name, text)                                               \
	{                                                                \
		PCTL_LAW_CUSTOM, 0, PCTL_LAW_JUDGED, 0, name, NULL, text \
	}

const pctl_law tensor_reshape_laws[2] = {
	JUDGED("back", "reshaped to x's shape y is x"),
	JUDGED("flat", "x and y are the same vector"),
};
void (*const tensor_reshape_checks[2])(kit_law *) = {reshape_back, reshape_flat};
const pctl_law tensor_transpose_laws[2] = {
	JUDGED("twice", "transposed by the inverse permutation y is x"),
	JUDGED("steps", "two axes exchanged, then the rest of the permutation, give y"),
};
void (*const tensor_transpose_checks[2])(kit_law *) = {transpose_twice, transpose_in_steps};
const pctl_law tensor_slice_laws[2] = {
	JUDGED("steps", "cut first and then taken in steps gives y"),
	JUDGED("parts", "even and odd parts of y along the first axis are y's"),
};
void (*const tensor_slice_checks[2])(kit_law *) = {slice_in_steps, slice_parts};
const pctl_law tensor_broadcast_laws[2] = {
	JUDGED("again", "stretched again to its shape y stays"),
	JUDGED("back", "the first of all that was repeated is x"),
};
void (*const tensor_broadcast_checks[2])(kit_law *) = {broadcast_again, broadcast_back};
