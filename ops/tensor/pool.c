/* tensor.max_pool and avg_pool over one to three dimensions (SEMANTICS.md 16.8). */
#include "common/tensors/exact_reference.h"
#include "kernels.h"
#include "window.h"

enum { ATTR_STRIDE, ATTR_PAD, ATTR_DILATION, ATTR_WINDOW, ATTR_COUNT_PAD };

static const uint32_t averages = 1;

static pctl_status pool_of(const kit_use *u, window *w, pctl_tensor_type *y)
{
	const pctl_tensor_type *x = &u->q->in[0];
	const uint32_t dims = x->rank - 2;
	uint64_t taps[WINDOW_DIMS];
	pctl_status status = tensor_movable(u, 0);

	if (status == PCTL_OK &&
	    (x->dtype == PCTL_SCALAR_BOOL || (u->op->data != NULL && !tensor_is_float(x->dtype))))
		status = kit_refuse_type(u, 0, u->op->desc.in[0].type);
	if (status == PCTL_OK && (x->rank < 3 || dims > WINDOW_DIMS))
		status = kit_refuse_type(u, 0, "3 to 5 dimensions");
	if (status == PCTL_OK)
		status = window_numbers(u, ATTR_WINDOW, dims, 1, 1, taps);
	if (status == PCTL_OK)
		status = window_of(u, dims, taps, ATTR_STRIDE, 0, w);
	if (status != PCTL_OK)
		return status;
	*y = (pctl_tensor_type){x->dtype, 0, {w->batches, w->channels}};
	window_shape(w, dims, y);
	return kit_limit(u, "elements", kit_elements(y), TENSOR_ELEMENTS_MAX);
}

static pctl_status pool_infer(const kit_use *u, pctl_op_result *out)
{
	window w;

	return pool_of(u, &w, &out->out[0]);
}

static uint64_t least_of(uint32_t dtype)
{
	const tensor_float_format *f = tensor_float_format_of(dtype);

	if (f != NULL)
		return f->infinity | f->sign;
	return tensor_is_signed(dtype) ? 1ull << (8 * kit_dtype_bytes(dtype) - 1) : 0;
}

static void pool_plan(kit_plan *p)
{
	const uint32_t dtype = p->use->q->in[0].dtype;
	const uint64_t bytes = kit_dtype_bytes(dtype), least = least_of(dtype);
	const tensor_float_format *f = tensor_float_format_of(dtype);
	pctl_tensor_type y;
	tensor_kernel k;
	window w;

	p->status = pool_of(p->use, &w, &y);
	if (p->status != PCTL_OK)
		return;
	k = tensor_kernel_begin(p, "tensor/pool.wgsl", kit_elements(&y), bytes, w.taps);
	tensor_kernel_read(&k, "x", bytes, kit_in(p, 0));
	window_text(&k, &w, 3);
	if (p->use->op->data != NULL) {
		kit_wgsl_add(&k.w, f->text);
		kit_wgsl_add(&k.w, KERNEL_POOL_DIVIDE);
		kit_wgsl_add(&k.w, KERNEL_EXACT_SUM);
		tensor_kernel_read_bits(&k, "x", dtype, kit_in(p, 0));
		kit_wgsl_add(&k.w, KERNEL_POOL_AVERAGE);
	} else {
		tensor_kernel_order(&k, dtype);
		kit_wgsl_add(&k.w, KERNEL_POOL_MAX);
	}
	k.params.v[0][0] = (uint32_t)w.places;
	k.params.v[0][1] = (uint32_t)w.taps;
	k.params.v[0][2] = (uint32_t)w.elements;
	k.params.v[0][3] = p->use->op->data != NULL && kit_attr(p->use, ATTR_COUNT_PAD) != 0;
	k.params.v[1][0] = (uint32_t)least;
	k.params.v[1][1] = (uint32_t)(least >> 32);
	/* Infinity without its sign: what is above it is a NaN. Integers have none. */
	k.params.v[1][2] = f != NULL ? f->infinity : UINT32_MAX;
	k.params.v[1][3] = f != NULL ? f->infinity | f->nan : 0;
	k.params.v[2][0] = f != NULL ? ~f->sign & (bytes == 2 ? 0xffffu : 0xffffffffu) : 0;
	tensor_kernel_run(&k, kit_out(p, 0));
}

/* 1: b is the greater, as numbers; no NaNs. */
static int is_above(uint32_t dtype, uint64_t b, uint64_t a)
{
	const uint32_t unused = 64 - 8 * (uint32_t)kit_dtype_bytes(dtype);

	if (tensor_is_float(dtype)) {
		const double x = tensor_value(dtype, &b, 0), y = tensor_value(dtype, &a, 0);

		return x > y || (x == 0 && y == 0 && a != 0 && b == 0);
	}
	return tensor_is_signed(dtype) ? (int64_t)(b << unused) > (int64_t)(a << unused) : b > a;
}

static pctl_status pool_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	const uint32_t dtype = u->q->in[0].dtype;
	const uint64_t bytes = kit_dtype_bytes(dtype);
	const tensor_float_format *f = tensor_float_format_of(dtype);
	const int average = u->op->data != NULL;
	pctl_tensor_type y;
	window w;
	const pctl_status status = pool_of(u, &w, &y);

	for (uint64_t at = 0; status == PCTL_OK && at < kit_elements(&y); at++) {
		const uint64_t first = at / w.places * w.elements;
		uint64_t most = least_of(dtype), count = 0, nans = 0;
		tensor_sum sum = {0};

		for (uint64_t t = 0; t < w.taps; t++) {
			const uint64_t from = window_at(&w, at % w.places, t);
			uint64_t v;

			if (from == UINT64_MAX)
				continue;
			v = tensor_get(in[0].data, first + from, bytes);
			count++;
			if (average)
				tensor_sum_product(&sum, tensor_value(dtype, &v, 0), 1);
			else if (f != NULL && (v & ~(uint64_t)f->sign) > f->infinity)
				nans++;
			else if (is_above(dtype, v, most))
				most = v;
		}
		if (average)
			most = tensor_sum_round(
				&sum, count != 0 && kit_attr(u, ATTR_COUNT_PAD) ? w.taps : count,
				f);
		else if (nans != 0 && nans == count)
			most = f->nan;
		tensor_put(out[0].data, at, bytes, most);
	}
	return status;
}

/* ---- problems and laws ---------------------------------------------------------------------- */

typedef struct sizes {
	uint64_t n;
	const char *window, *stride, *pad, *dilation;
} sizes;
static const sizes tried[] = {{5, "2", "2", "", ""},   {7, "3", "1", "1", ""},
			      {4, "2", "1", "3", "2"}, {1, "1", "", "", ""},
			      {0, "1", "", "1", ""},   {6, "4", "3", "2", ""},
			      {2, "5", "", "", ""}};

static const pctl_op_problems pool_problems = {PCTL_HEAD(pctl_op_problems),
					       "two channels of up to 7 elements a dimension",
					       KIT_COUNT(tried) * 3 * TENSOR_KINDS};

static void pool_problem(kit_problem *p)
{
	const sizes *s = &tried[p->number % KIT_COUNT(tried)];
	const uint32_t variant = (uint32_t)(p->number / KIT_COUNT(tried)), dims = 1 + variant % 3;
	pctl_tensor_type x = {p->dtype, dims + 2, {2, 2, s->n, s->n, 2}};

	if (p->use.op->data == NULL && tensor_problem_of_others(p))
		return;
	if (dims > 1 && s->n > 2)
		x.dim[3]--;
	tensor_problem_attr(p, ATTR_STRIDE, s->stride);
	tensor_problem_attr(p, ATTR_PAD, s->pad);
	tensor_problem_attr(p, ATTR_DILATION, s->dilation);
	tensor_problem_attr(p, ATTR_WINDOW, s->window);
	if (p->use.op->data != NULL)
		tensor_problem_attr(p, ATTR_COUNT_PAD, variant % 2 ? "true" : "false");
	tensor_problem_fill(p, 0, &x, variant / 3 % TENSOR_KINDS);
	kit_problem_rigid(p);
}

/* The outermost dimension behind the channels from its end, where places lie as its end has them. */
static void law_mirrored(kit_law *l)
{
	const uint32_t y = kit_law_out(l, 0);
	const pctl_tensor_type *x = &l->use.q->in[0], *t = &l->c->types[y];
	const uint64_t rows = x->dim[0] * x->dim[1];
	tensor_lines from = {rows, x->dim[2], 1, 0}, to = {rows, t->dim[2], 1, 0};
	const window_dim *d;
	pctl_tensor_type other;
	window w;
	uint32_t in;

	if (pool_of(&l->use, &w, &other) != PCTL_OK || kit_elements(x) == 0 || kit_elements(t) == 0)
		return;
	d = &w.dim[WINDOW_DIMS - (x->rank - 2)];
	if ((d->n + 2 * d->pad - d->dilation * (d->taps - 1) - 1) % d->stride != 0)
		return;
	for (uint32_t i = 3; i < x->rank; i++) {
		from.inner *= x->dim[i];
		to.inner *= t->dim[i];
	}
	in = tensor_law_taken(l, x, 0, tensor_law_mirrored, &from);
	kit_law_equal(
		l,
		kit_law_use(l, l->use.op->desc.name, &in, 1, l->use.q->attr, l->use.q->n_attr, 1),
		tensor_law_taken(l, t, y, tensor_law_mirrored, &to));
}

/* ---- the ops -------------------------------------------------------------------------------- */

#define MAX_TYPES "f32|f16|bf16|i8|u8|i16|u16|i32|u32|i64|u64"
static const pctl_port max_in[] = {
	{"x", MAX_TYPES "[...]", "batches and channels, then one to three dimensions", 0, 0}};
static const pctl_port max_out[] = {{"y", MAX_TYPES "[...]", "the largest of each window", 0, 0}};
static const pctl_port avg_in[] = {
	{"x", "f32|f16|bf16[...]", "batches and channels, then one to three dimensions", 0, 0}};
static const pctl_port avg_out[] = {
	{"y", "f32|f16|bf16[...]", "the mean of each window, of x's type", 0, 0}};
static const pctl_attr_desc attr[] = {
	{"stride", "", "one number, or one for each dimension between commas; 1 if not given",
	 PCTL_ATTR_STRING, 0, 0, 0},
	{"pad", "", "places before and behind each dimension; 0 if not given", PCTL_ATTR_STRING, 0,
	 0, 0},
	{"dilation", "", "from one place of a window to the next; 1 if not given", PCTL_ATTR_STRING,
	 0, 0, 0},
	{"window", NULL, "places of a window in each dimension", PCTL_ATTR_STRING, 0, 0, 0},
	{"count_pad", "false", "divide by all places of the window, those outside x too",
	 PCTL_ATTR_BOOL, 0, 0, 1},
};
static const pctl_law pool_laws[] = {TENSOR_LAW(
	"mirrored", "where windows reach the end, x from the end of a dimension gives y so")};
static void (*const pool_checks[])(kit_law *) = {law_mirrored};

static const kit_op ops[] = {
	TENSOR_OP(pool, 1, "tensor.max_pool",
		  "the largest of each window, over one to three dimensions",
		  "NaNs count only where there is nothing else, and give the canonical NaN; -0 is "
		  "below "
		  "+0; of no place: -Inf, of integers the least value.",
		  PCTL_CLASS_INTEGER, max_in, 1, max_out, attr, 4, NULL),
	TENSOR_OP(pool, 1, "tensor.avg_pool",
		  "the mean of each window, over one to three dimensions",
		  "The exact sum of the places within x, divided by their number, or where "
		  "count_pad by all "
		  "of the window's, rounded once;\nof no place the canonical NaN.",
		  PCTL_CLASS_STRICT, avg_in, 1, avg_out, attr, 5, &averages),
};

const kit_family tensor_pool_family = {ops, NULL, KIT_COUNT(ops), 0};
