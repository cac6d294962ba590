/* tensor.lookup: elements out of a table, by the elements of x (SEMANTICS.md 16.3). That these are in range is the host's to see:
 * convention 2. */
#include "common/tensors/elements.h"
#include "kernels.h"

static pctl_status lookup_infer(const kit_use *u, pctl_op_result *out)
{
	const pctl_status status = tensor_movable(u, 1);

	out->out[0] = u->q->in[0];
	out->out[0].dtype = u->q->in[1].dtype;
	return status != PCTL_OK
		       ? status
		       : kit_limit(u, "elements", kit_elements(&out->out[0]), TENSOR_ELEMENTS_MAX);
}

static void lookup_plan(kit_plan *p)
{
	const pctl_tensor_type *in = p->use->q->in;
	tensor_kernel k;

	k = tensor_kernel_begin_of(p, "tensor/lookup.wgsl", kit_elements(&in[0]), in[1].dtype, 0);
	tensor_kernel_read_of(&k, "x", in[0].dtype, kit_in(p, 0));
	tensor_kernel_read_of(&k, "lookup", in[1].dtype, kit_in(p, 1));
	kit_wgsl_add(&k.w, "fn product(i: u32) -> T {\n\treturn lookup_raw(u32(x_raw(i)));\n}\n");
	tensor_kernel_run(&k, kit_out(p, 0));
}

static pctl_status lookup_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	const uint64_t index = kit_dtype_bytes(u->q->in[0].dtype);
	const uint32_t dtype = u->q->in[1].dtype;
	const uint8_t *x = in[0].data;

	for (uint64_t i = 0; i < kit_elements(&u->q->in[0]); i++) {
		uint64_t at = 0;

		for (uint64_t b = index; b-- > 0;)
			at = at << 8 | x[i * index + b];
		tensor_code_put(dtype, out[0].data, i, tensor_code(dtype, in[1].data, at));
	}
	return PCTL_OK;
}

/* ---- problems and laws ---------------------------------------------------------------------- */

static const uint32_t table_types[] = {PCTL_SCALAR_F32,	   PCTL_SCALAR_U8,   PCTL_SCALAR_I64,
				       PCTL_SCALAR_U16,	   PCTL_SCALAR_BF16, PCTL_DTYPE_F4,
				       PCTL_DTYPE_TERNARY, PCTL_DTYPE_BINARY};
static const uint64_t table_sizes[] = {256, 65536, 1, 7, 0};

static const pctl_op_problems lookup_problems = {
	PCTL_HEAD(pctl_op_problems),
	"tables of 0 to 65536 elements, indices in range and out of it",
	TENSOR_SHAPES *KIT_COUNT(table_sizes)};

static void lookup_problem(kit_problem *p)
{
	pctl_tensor_type x = tensor_problem_shapes[p->number % TENSOR_SHAPES], table = {.rank = 1};
	const uint64_t variant = p->number / TENSOR_SHAPES % KIT_COUNT(table_sizes);

	x.dtype = p->dtype;
	table.dim[0] = table_sizes[variant];
	table.dtype = table_types[(p->number + variant) % KIT_COUNT(table_types)];
	if (table.dim[0] == 0)
		x.dim[0] = 0;
	/* Every u8 and u16 is in range of the large ones. */
	if (kit_dtype_bytes(p->dtype) < 4 && table.dim[0] >> 8 * kit_dtype_bytes(p->dtype) != 0)
		tensor_problem_fill(p, 0, &x, TENSOR_BITS);
	else
		tensor_problem_index(p, 0, &x, table.dim[0], 0);
	tensor_problem_fill(p, 1, &table, TENSOR_BITS);
	kit_problem_rigid(p);
}

/* A table of numbers of x's type from `first` on, in steps of 1 or -1. */
static uint32_t numbers(kit_law *l, uint64_t n, uint64_t first, uint64_t step)
{
	const uint32_t dtype = l->use.q->in[0].dtype;
	const uint64_t bytes = kit_dtype_bytes(dtype);
	const pctl_tensor_type t = kit_vector(dtype, n);
	uint8_t *data = kit_law_scratch(l, n * bytes + 1);
	uint32_t number = 0;

	if (data == NULL)
		return 0;
	for (uint64_t i = 0; i < n; i++)
		tensor_put(data, i, bytes, first + i * step);
	number = kit_law_tensor(l, &t, data);
	kit_law_free(l, data);
	return number;
}

/* 1: each index is an index of its type. */
static int fits(const kit_law *l)
{
	const uint64_t bytes = kit_dtype_bytes(l->use.q->in[0].dtype), n = l->use.q->in[1].dim[0];

	return n != 0 && (bytes == 8 || n <= 1ull << (8 * bytes));
}

static void law_identity(kit_law *l)
{
	if (fits(l))
		kit_law_equal(l,
			      kit_law_use(l, l->use.op->desc.name,
					  (uint32_t[]){0, numbers(l, l->use.q->in[1].dim[0], 0, 1)},
					  2, NULL, 0, 1),
			      0);
}

static uint64_t from_the_end(const void *ctx, uint64_t i)
{
	return *(const uint64_t *)ctx - 1 - i;
}

static void law_mirrored(kit_law *l)
{
	const pctl_tensor_type *table = &l->use.q->in[1];
	uint32_t in[2] = {0, 0};

	if (!fits(l))
		return;
	in[1] = numbers(l, table->dim[0], table->dim[0] - 1, UINT64_MAX);
	in[0] = kit_law_use(l, l->use.op->desc.name, in, 2, NULL, 0, 1);
	in[1] = tensor_law_taken(l, table, 1, from_the_end, &table->dim[0]);
	kit_law_equal(l, kit_law_use(l, l->use.op->desc.name, in, 2, NULL, 0, 1),
		      kit_law_out(l, 0));
}

static const pctl_law lookup_laws[] = {
	TENSOR_LAW("identity", "the table 0, 1, .. n - 1 gives x"),
	TENSOR_LAW("mirrored", "n - 1 - x, itself looked up, in the table from its end gives y"),
};
static void (*const lookup_checks[])(kit_law *) = {law_identity, law_mirrored};

static const pctl_port lookup_in[] = {
	{"x", "u8|u16|u32|u64[...]", "which element of the table", 0, 0},
	{"lookup", TENSOR_ANY "[n]", "the table", 0, 0}};
static const pctl_port lookup_out[] = {{"y", TENSOR_ANY "[...]", "what stands there", 0, 0}};

static const kit_op ops[] = {
	{.desc = {.head = PCTL_HEAD(pctl_op_desc),
		  .name = "tensor.lookup",
		  .version = 1,
		  .kind = PCTL_OPDEF_PLAN,
		  .category = 'A',
		  .op_class = PCTL_CLASS_INTEGER,
		  .convention = 2,
		  .doc = "elements of a table, by an integer each",
		  .spec = "y[i] = lookup[x[i]] for every i, of lookup's type and in x's shape. An "
			  "x that is "
			  "not below n fails the\njob: the lowest position is named, and the "
			  "number "
			  "there. A tensor has at most 2^31 elements.",
		  KIT_IN(lookup_in),
		  KIT_OUT(lookup_out)},
	 .rules = KIT_PLAN_RULES(lookup_laws, tensor_boundaries),
	 .laws = lookup_checks,
	 .problems = &lookup_problems,
	 .problem = lookup_problem,
	 .infer = lookup_infer,
	 .plan = lookup_plan,
	 .reference = lookup_reference},
};

const kit_family tensor_lookup_family = {ops, NULL, KIT_COUNT(ops), 0};
