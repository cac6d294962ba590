/* tensor.quantize_blocks: blocks of GGUF's formats made of numbers (SEMANTICS.md 13.6), by integers. Four kernels: the f16 of a block, the integers of a
 * part, the integer of an element, and the bytes that all of them are put together to. */
#include "blocks.h"

#include <stdio.h>

#include "common/tensors/elements.h"
#include "kernels.h"

#define BLOCKS "q4_0|q4_1|q5_0|q5_1|q8_0|q2_k|q3_k|q4_k|q5_k|q6_k"

static const blocks_type types[BLOCKS_TYPES] = {
	{PCTL_DTYPE_Q4_0, 32, 18, 32, 1, 0, 8, 7, 1, KERNEL_BLOCKS_SMALL},
	{PCTL_DTYPE_Q4_1, 32, 20, 32, 1, 1, 0, 15, 0, KERNEL_BLOCKS_SMALL},
	{PCTL_DTYPE_Q5_0, 32, 22, 32, 1, 0, 16, 15, 1, KERNEL_BLOCKS_SMALL},
	{PCTL_DTYPE_Q5_1, 32, 24, 32, 1, 1, 0, 31, 0, KERNEL_BLOCKS_SMALL},
	{PCTL_DTYPE_Q8_0, 32, 34, 32, 1, 0, 127, 127, 0, KERNEL_BLOCKS_SMALL},
	{PCTL_DTYPE_Q2_K, 256, 84, 16, 15, 15, 0, 3, 0, KERNEL_BLOCKS_Q2_K},
	{PCTL_DTYPE_Q3_K, 256, 110, 16, 31, 0, 4, 3, 1, KERNEL_BLOCKS_Q3_K},
	{PCTL_DTYPE_Q4_K, 256, 144, 32, 63, 63, 0, 15, 0, KERNEL_BLOCKS_PAIRS},
	{PCTL_DTYPE_Q5_K, 256, 176, 32, 63, 63, 0, 31, 0, KERNEL_BLOCKS_PAIRS},
	{PCTL_DTYPE_Q6_K, 256, 210, 16, 127, 0, 32, 31, 1, KERNEL_BLOCKS_Q6_K},
};

const blocks_type *blocks_type_at(uint32_t i)
{
	return i < BLOCKS_TYPES ? &types[i] : NULL;
}

pctl_status blocks_type_of(const kit_use *u, const blocks_type **out)
{
	const pctl_tensor_type *x = &u->q->in[0];

	for (uint32_t i = 0; i < BLOCKS_TYPES; i++) {
		*out = &types[i];
		if (strcmp(kit_dtype_name(types[i].dtype), u->q->attr[0].text) != 0)
			continue;
		if (x->rank == 0 || x->dim[x->rank - 1] % types[i].block != 0)
			return kit_refuse_type(u, 0, "rows of whole blocks");
		return PCTL_OK;
	}
	return kit_refuse_attr(u, "to", "is no type of blocks: one of " BLOCKS);
}

static pctl_status infer(const kit_use *u, pctl_op_result *out)
{
	const pctl_tensor_type *x = &u->q->in[0];
	const blocks_type *t;
	pctl_status status;

	if (!tensor_is_float(x->dtype))
		return kit_refuse_type(u, 0, u->op->desc.in[0].type);
	status = blocks_type_of(u, &t);
	if (status != PCTL_OK)
		return status;
	out->out[0] = *x;
	out->out[0].dtype = t->dtype;
	out->n_cut = x->rank - 1;
	out->cut[0] = (1u << out->n_cut) - 1u;
	return kit_limit(u, "elements", kit_elements(x), TENSOR_ELEMENTS_MAX);
}

/* ---- kernels -------------------------------------------------------------------------------- */

static void add_type(tensor_kernel *k, const blocks_type *t)
{
	char text[800];

	snprintf(
		text, sizeof(text),
		"const SUB: u32 = %uu;\nconst PARTS: u32 = %uu;\nconst SCALES: u32 = %uu;\n"
		"const MINIMA: u32 = %uu;\nconst LOW: i64 = %uli;\nconst HIGH: i64 = %uli;\n"
		"const BYTES: u32 = %uu;\nconst TWO_LEVELS: bool = %s;\nconst SHIFTED: bool = %s;\n"
		"const TURNS: bool = %s;\nconst EIGHT_BITS: bool = %s;\nconst FIFTHS: bool = %s;\n",
		t->sub, t->block / t->sub, t->scales, t->minima, t->low, t->high, t->bytes,
		t->minima > 1 ? "true" : "false", t->minima == 1 ? "true" : "false",
		t->turns ? "true" : "false", t->dtype == PCTL_DTYPE_Q8_0 ? "true" : "false",
		t->low + t->high == 31 ? "true" : "false");
	kit_wgsl_add(&k->w, text);
}

/* A kernel that reads x. */
static tensor_kernel begin(kit_plan *p, const blocks_type *t, const char *name, uint64_t count,
			   uint64_t bytes)
{
	tensor_kernel k = tensor_kernel_begin(p, name, count, bytes, 0);

	add_type(&k, t);
	tensor_kernel_bind(&k, "x", "u32", kit_in(p, 0));
	kit_wgsl_named(&k.w, kit_codec_bits(p->use->q->in[0].dtype), "x");
	kit_wgsl_add(&k.w, KERNEL_BLOCKS_NUMBER);
	return k;
}

/* The job fails where a block has no f16. */
static void check(kit_plan *p, uint32_t blocks, uint64_t n)
{
	tensor_kernel k = tensor_kernel_begin(p, "tensor/blocks_check.wgsl", n, 4, 0);
	const uint32_t seen = kit_temp(p, 4 * n), most = kit_temp(p, 4);

	tensor_kernel_bind(&k, "blocks", "u32", blocks);
	kit_wgsl_add(&k.w, "fn product(b: u32) -> u32 {\n"
			   "\treturn select(0u, 1u, blocks[b] == 0xffffffffu);\n}\n");
	tensor_kernel_run(&k, seen);
	kit_run_op(p, "tensor.reduce_max", 1,
		   (kit_arg[]){{seen, kit_vector(PCTL_SCALAR_U32, n)},
			       {most, kit_vector(PCTL_SCALAR_U32, 1)}},
		   2, NULL, 0);
	kit_assert(p, most, 4, 0,
		   "a block of x has an infinity, a NaN, or a scale that is beyond f16");
}

static void plan(kit_plan *p)
{
	const uint64_t n = kit_elements(&p->use->q->in[0]);
	const blocks_type *t;
	uint32_t blocks, parts, codes;
	tensor_kernel k;

	p->status = blocks_type_of(p->use, &t);
	if (p->status != PCTL_OK || n == 0)
		return;
	blocks = kit_temp(p, 4 * (n / t->block));
	k = begin(p, t, "tensor/blocks_scale.wgsl", n / t->block, 4);
	kit_wgsl_add(&k.w, KERNEL_BLOCKS_SCALE);
	tensor_kernel_run(&k, blocks);
	check(p, blocks, n / t->block);

	parts = kit_temp(p, 4 * (n / t->sub));
	k = begin(p, t, "tensor/blocks_part.wgsl", n / t->sub, 4);
	tensor_kernel_bind(&k, "blocks", "u32", blocks);
	kit_wgsl_add(&k.w, KERNEL_BLOCKS_PART);
	tensor_kernel_run(&k, parts);

	codes = kit_temp(p, n);
	k = begin(p, t, "tensor/blocks_code.wgsl", n, 1);
	tensor_kernel_bind(&k, "blocks", "u32", blocks);
	tensor_kernel_bind(&k, "parts", "u32", parts);
	kit_wgsl_add(&k.w, KERNEL_BLOCKS_CODE);
	tensor_kernel_run(&k, codes);

	k = tensor_kernel_begin(p, "tensor/blocks_layout.wgsl", n / t->block * t->bytes, 1, 0);
	add_type(&k, t);
	tensor_kernel_bind(&k, "blocks", "u32", blocks);
	tensor_kernel_bind(&k, "parts", "u32", parts);
	tensor_kernel_read(&k, "codes", 1, codes);
	kit_wgsl_add(&k.w, KERNEL_BLOCKS_LAYOUT);
	kit_wgsl_add(&k.w, t->layout);
	tensor_kernel_run(&k, kit_out(p, 0));
}

/* ---- the op --------------------------------------------------------------------------------- */

static const pctl_port in[] = {{"x", "f32|f16|bf16[...]", "the numbers", 0, 0}};
static const pctl_port out[] = {{"y", BLOCKS "[...]", "blocks of type `to`", 0, 0}};
static const pctl_attr_desc attr[] = {
	{"to", NULL, "the type of the blocks", PCTL_ATTR_STRING, 0, 0, 0}};
static const pctl_law laws[] = {
	TENSOR_LAW("rows", "rows in the opposite order give the rows of y in the opposite order"),
	TENSOR_LAW("negated",
		   "of the formats without a minimum: negated numbers give y's elements negated"),
	TENSOR_LAW("doubled", "numbers with an element of 0 and one of at least 1 in each block, "
			      "none below 0, and their doubles: y's "
			      "elements doubled"),
};
static void (*const checks[])(kit_law *) = {blocks_law_rows, blocks_law_negated,
					    blocks_law_doubled};
static const pctl_example boundaries[] = {
	{"nothing", {0}}, {"a block of 32", {32}}, {"a block of 256", {256}}, {"three", {768}}};

static const kit_op ops[] = {{
	.desc = {KIT_PLAN_OP("tensor.quantize_blocks", 1, PCTL_CLASS_INTEGER),
		 .doc = "numbers made into blocks of a format of GGUF",
		 .spec = "y is x in blocks of type `to`, whose scales and minima are found and "
			 "whose elements are rounded as SEMANTICS.md 13.6 says,\n"
			 "everything compared exactly. Rows are whole blocks. A block with an "
			 "infinity or a NaN, or whose scale or minimum would\n"
			 "be above the largest f16, fails the job. At most 2^31 elements.",
		 KIT_IN(in), KIT_OUT(out), KIT_ATTR(attr)},
	.rules = KIT_PLAN_RULES(laws, boundaries),
	.laws = checks,
	.problems = &blocks_problems,
	.problem = blocks_problem,
	.infer = infer,
	.plan = plan,
	.reference = blocks_reference,
}};

const kit_family tensor_blocks_family = {ops, NULL, KIT_COUNT(ops), 0};
