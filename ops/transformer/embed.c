/* transformer.embed: rows of a table by tokens, made f32 and scaled (SEMANTICS.md 18.10). Rows are taken as they lie, by tensor.embedding, which finds
 * tokens out of range and reads tables that are too large for a binding; what they say is read from what was taken. */
#include <math.h>

#include "shared.h"

enum { ATTR_SCALE };
enum { TOKENS, TABLE };

pctl_status transformer_scale_of(const kit_use *u, uint32_t attr, float *out)
{
	const char *text = u->q->attr[attr].text;
	char *end;

	*out = kit_parse_f32(text, &end);
	if (end == text || *end != '\0' || !isfinite(*out))
		return kit_refuse_attr(u, u->op->desc.attr[attr].name, "is not a finite number");
	return PCTL_OK;
}

static pctl_status embed_infer(const kit_use *u, pctl_op_result *out)
{
	const pctl_tensor_type *tokens = &u->q->in[TOKENS], *table = &u->q->in[TABLE];
	pctl_tensor_type row = *table, *y = &out->out[0];
	pctl_status status = kit_limit(u, "tokens", kit_elements(tokens), TENSOR_ELEMENTS_MAX);
	float scale;

	if (tokens->dtype != PCTL_SCALAR_U32 || tokens->rank >= PCTL_RANK_MAX)
		return kit_refuse_type(u, TOKENS, "u32, of at most 7 dimensions");
	if (table->rank != 2 || !kit_codec_is_factor(table->dtype))
		return kit_refuse_type(u, TABLE, "a matrix of a type that products take");
	row.dim[0] = 1;
	if (kit_bytes(&row) == UINT64_MAX || kit_bytes(&row) * row.dim[1] == 0 ||
	    kit_dtype_bits(table->dtype, &row.rank) * (row.dim[1] / row.rank) % 8 != 0)
		return kit_refuse_type(u, TABLE, "rows of whole bytes, of one element at least");
	if (status == PCTL_OK)
		status = kit_limit(u, "elements of the table", kit_elements(table),
				   TENSOR_ELEMENTS_MAX);
	if (status == PCTL_OK)
		status = transformer_scale_of(u, ATTR_SCALE, &scale);
	*y = *tokens;
	y->dtype = PCTL_SCALAR_F32;
	y->dim[y->rank++] = table->dim[1];
	out->n_cut = tokens->rank;
	out->cut[TOKENS] = (1u << tokens->rank) - 1u;
	return status != PCTL_OK ? status
				 : kit_limit(u, "elements", kit_elements(y), TENSOR_ELEMENTS_MAX);
}

/* The table as words of whole bytes, as wide as its rows allow. */
static pctl_tensor_type words_of(const pctl_tensor_type *table)
{
	pctl_tensor_type row = *table;
	uint64_t bytes, each;

	row.dim[0] = 1;
	bytes = kit_bytes(&row);
	each = bytes % 4 == 0 ? 4 : bytes % 2 == 0 ? 2 : 1;
	row.dtype = each == 4 ? PCTL_SCALAR_U32 : each == 2 ? PCTL_SCALAR_U16 : PCTL_SCALAR_U8;
	row.dim[0] = table->dim[0];
	row.dim[1] = bytes / each;
	return row;
}

static void embed_plan(kit_plan *p)
{
	static const char *const one = "fn product(i: u32) -> T {\n"
				       "\treturn bitcast<u32>(bitcast<f32>(x_bits(i)) * "
				       "bitcast<f32>(params.v[0].x));\n}\n";
	static const char *const two =
		"fn product(i: u32) -> T {\n\tlet pair = x_pair(i);\n"
		"\tlet element = bitcast<f32>(pair.x) + bitcast<f32>(pair.y);\n"
		"\treturn bitcast<u32>(element * bitcast<f32>(params.v[0].x));\n}\n";
	const pctl_op_query *q = p->use->q;
	const pctl_tensor_type words = words_of(&q->in[TABLE]);
	const uint64_t count = kit_elements(&q->in[TOKENS]);
	pctl_tensor_type taken = words;
	pctl_op_result r = {.n_cut = 0};
	tensor_kernel k;
	uint32_t rows;
	float scale;

	p->status = embed_infer(p->use, &r);
	if (p->status != PCTL_OK || count == 0)
		return;
	p->status = transformer_scale_of(p->use, ATTR_SCALE, &scale);
	taken.dim[0] = count;
	rows = kit_temp(p, (kit_bytes(&taken) + 3) / 4 * 4);
	kit_run_op(p, "tensor.embedding", 1,
		   (kit_arg[]){{kit_in(p, TABLE), words},
			       {kit_in(p, TOKENS), kit_vector(PCTL_SCALAR_U32, count)},
			       {rows, taken}},
		   3, NULL, 0);
	k = tensor_kernel_begin(p, "transformer/embed.wgsl", kit_elements(&r.out[0]), 4, 0);
	tensor_kernel_bind(&k, "x", "u32", rows);
	kit_wgsl_factor(&k.w, q->in[TABLE].dtype, "x");
	kit_wgsl_add(&k.w, kit_codec_is_pair(q->in[TABLE].dtype) ? two : one);
	memcpy(&k.params.v[0][0], &scale, 4);
	tensor_kernel_run(&k, kit_out(p, 0));
}

static pctl_status embed_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	const pctl_tensor_type *table = &u->q->in[TABLE];
	const uint64_t n = table->dim[1];
	pctl_status status;
	float scale;

	status = transformer_scale_of(u, ATTR_SCALE, &scale);
	if (status == PCTL_OK)
		status = tensor_index_refuse(u, TOKENS, in[TOKENS].data, table->dim[0], 0);
	for (uint64_t i = 0; status == PCTL_OK && i < kit_elements(&u->q->in[TOKENS]); i++)
		for (uint64_t j = 0; j < n; j++) {
			const uint64_t row = tensor_get(in[TOKENS].data, i, 4);
			const float element =
				(float)tensor_element(table->dtype, in[TABLE].data, row * n + j);

			transformer_put(out[0].data, i * n + j, element * scale);
		}
	return status;
}

/* ---- problems and laws ---------------------------------------------------------------------- */

static const struct {
	uint32_t dtype, n;
} tables[] = {{PCTL_SCALAR_F32, 5},    {PCTL_SCALAR_BF16, 7},	{PCTL_SCALAR_F16, 4},
	      {PCTL_DTYPE_Q8_0, 64},   {PCTL_DTYPE_Q4_0, 32},	{PCTL_DTYPE_Q4_1, 32},
	      {PCTL_DTYPE_Q5_0, 32},   {PCTL_DTYPE_Q5_1, 64},	{PCTL_DTYPE_Q2_K, 256},
	      {PCTL_DTYPE_Q3_K, 256},  {PCTL_DTYPE_Q4_K, 256},	{PCTL_DTYPE_Q5_K, 256},
	      {PCTL_DTYPE_Q6_K, 256},  {PCTL_DTYPE_F8E4M3, 3},	{PCTL_DTYPE_F8E5M2, 8},
	      {PCTL_DTYPE_I4, 6},      {PCTL_DTYPE_TERNARY, 8}, {PCTL_SCALAR_I8, 9},
	      {PCTL_DTYPE_BINARY, 16}, {PCTL_SCALAR_U16, 2}};
static const char *const scales[] = {"1", "39.191835", "-0.5", "1e-30"};

static const pctl_op_problems embed_problems = {PCTL_HEAD(pctl_op_problems),
						"tables of 20 types, tokens in range and out of it",
						KIT_COUNT(tables) * KIT_COUNT(scales)};

static void embed_problem(kit_problem *p)
{
	const uint32_t which = (uint32_t)(p->number % KIT_COUNT(tables)),
		       variant = (uint32_t)(p->number / KIT_COUNT(tables)) % KIT_COUNT(scales);
	const pctl_tensor_type table = {tables[which].dtype, 2, {5 + variant, tables[which].n}};
	const pctl_tensor_type tokens =
		tensor_type_of(PCTL_SCALAR_U32, 1 + variant % 2, (uint64_t[]){2 + variant, 3});

	tensor_problem_attr(p, ATTR_SCALE, scales[variant]);
	tensor_problem_index(p, TOKENS, &tokens, table.dim[0], 0);
	transformer_problem_table(p, TABLE, &table);
	kit_problem_rigid(p);
}

static void embed_law_converted(kit_law *l)
{
	const pctl_attr attr[] = {{"to", "f32", 0}};
	uint32_t in[2] = {0, 0};

	/* Of f32 nothing is converted. */
	if (l->use.q->in[TABLE].dtype == PCTL_SCALAR_F32)
		return;
	in[1] = kit_law_use(l, "tensor.convert", (uint32_t[]){TABLE}, 1, attr, 1, 1);
	kit_law_equal(
		l, kit_law_use(l, l->use.op->desc.name, in, 2, l->use.q->attr, l->use.q->n_attr, 1),
		kit_law_out(l, 0));
}

static void embed_law_mirrored(kit_law *l)
{
	const uint32_t y = kit_law_out(l, 0);
	const pctl_op_query *q = l->use.q;
	const uint64_t n = kit_elements(&q->in[TOKENS]);
	const tensor_lines tokens = {1, n, 1, 0}, rows = {1, n, q->in[TABLE].dim[1], 0};
	uint32_t in[2] = {0, TABLE};

	in[0] = tensor_law_taken(l, &q->in[TOKENS], TOKENS, tensor_law_mirrored, &tokens);
	kit_law_equal(l, kit_law_use(l, l->use.op->desc.name, in, 2, q->attr, q->n_attr, 1),
		      tensor_law_taken(l, &l->c->types[y], y, tensor_law_mirrored, &rows));
}

static uint64_t as_it_is(const void *ctx, uint64_t i)
{
	(void)ctx;
	return i;
}

/* y as a table. */
static void embed_law_again(kit_law *l)
{
	const uint32_t y = kit_law_out(l, 0);
	const pctl_op_query *q = l->use.q;
	const uint64_t n = kit_elements(&q->in[TOKENS]);
	const pctl_tensor_type table = {PCTL_SCALAR_F32, 2, {n, q->in[TABLE].dim[1]}};
	uint32_t *numbers = kit_law_scratch(l, 4 * n + 4), in[2] = {0, 0};

	if (numbers == NULL)
		return;
	for (uint64_t i = 0; i < n; i++)
		numbers[i] = (uint32_t)i;
	in[0] = kit_law_tensor(l, &q->in[TOKENS], numbers);
	in[1] = tensor_law_taken(l, &table, y, as_it_is, NULL);
	kit_law_equal(l, kit_law_use(l, l->use.op->desc.name, in, 2, NULL, 0, 1), y);
	kit_law_free(l, numbers);
}

/* ---- the op --------------------------------------------------------------------------------- */

static const pctl_port embed_in[] = {
	{"tokens", "u32[...]", "which rows", 0, 0},
	{"table", TRANSFORMER_FACTORS "[v,n]", "the rows, of whole bytes", 0, 0}};
static const pctl_port embed_out[] = {{"y", "f32[...]", "the rows, tokens' shape and n", 0, 0}};
static const pctl_attr_desc embed_attr[] = {
	{"scale", "1", "what every element is multiplied by, as the nearest f32", PCTL_ATTR_STRING,
	 0, 0, 0}};
static const pctl_law embed_laws[] = {
	TENSOR_LAW("converted", "of another type than f32: a table made f32 gives the same y"),
	TENSOR_LAW("mirrored", "the tokens in reverse order give the rows of y so"),
	TENSOR_LAW("again", "y as the table, its rows in turn, with scale 1 gives y"),
};
static void (*const embed_checks[])(kit_law *) = {embed_law_converted, embed_law_mirrored,
						  embed_law_again};

static const kit_op ops[] = {
	TENSOR_OP(
		embed, 1, "transformer.embed", "rows of a table by tokens, as f32, scaled",
		"y[.., j] = the f32 nearest to table[tokens[..], j], times scale, rounded; NaN is "
		"the canonical one.\nf32, f16, bf16, f8, f4, integers and blocks without minima "
		"are exact in f32; q4_1 q5_1 q2_k q4_k q5_k are rounded.\nA token that is no row "
		"fails the job.",
		PCTL_CLASS_STRICT, embed_in, 2, embed_out, embed_attr, 1, NULL),
};

const kit_family transformer_embed_family = {ops, NULL, KIT_COUNT(ops), 0};
