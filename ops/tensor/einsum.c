/* tensor.einsum (SEMANTICS.md 4.8): its equations, and its plan out of tensor.matmul, tensor.sum and copies that bring axes into order. */
#include "einsum.h"
#include "kernels.h"

uint32_t einsum_letter(char c)
{
	return c >= 'a' ? (uint32_t)(c - 'a') : 26u + (uint32_t)(c - 'A');
}

static int is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* ---- equations ------------------------------------------------------------------------------ */

/* The letters of one operand, or of the result, from *text on. */
static pctl_status letters_of(const kit_use *u, const char **text, char out[PCTL_RANK_MAX + 1])
{
	uint32_t n = 0;

	for (; is_letter(**text); (*text)++) {
		if (n == PCTL_RANK_MAX)
			return kit_refuse_attr(u, "equation", "gives a tensor more than 8 axes");
		out[n++] = **text;
	}
	out[n] = '\0';
	return PCTL_OK;
}

static pctl_status parse(const kit_use *u, einsum *e)
{
	const char *text = u->q->attr[EINSUM_ATTR_EQUATION].text;
	pctl_status status = PCTL_OK;

	for (e->n_in = 0; status == PCTL_OK; text++) {
		if (e->n_in == EINSUM_OPERANDS)
			return kit_refuse_attr(u, "equation", "has more than three operands");
		status = letters_of(u, &text, e->in[e->n_in++].letters);
		if (*text != ',')
			break;
	}
	if (status != PCTL_OK)
		return status;
	if (text[0] != '-' || text[1] != '>')
		return kit_refuse_attr(
			u, "equation",
			"is not letters between commas, ->, and letters, as in ij,jk->ik");
	text += 2;
	status = letters_of(u, &text, e->out.letters);
	if (status == PCTL_OK && *text != '\0')
		return kit_refuse_attr(u, "equation", "has something else than letters behind ->");
	return status;
}

/* Extents by letters; each letter of the result once, and of an operand. */
static pctl_status measure(const kit_use *u, einsum *e)
{
	uint8_t seen[EINSUM_LETTERS] = {0};
	uint32_t n = 0;

	for (uint32_t i = 0; i < e->n_in; i++) {
		const pctl_tensor_type *t = &e->in[i].type;

		if (t->rank != strlen(e->in[i].letters))
			return kit_refuse_type(
				u, i, "as many dimensions as the equation has letters for it");
		for (uint32_t d = 0; d < t->rank; d++) {
			const uint32_t l = einsum_letter(e->in[i].letters[d]);

			if (seen[l] && e->extent[l] != t->dim[d])
				return kit_refuse_type(
					u, i, "one extent for each letter of the equation");
			n += !seen[l];
			seen[l] = 1;
			e->extent[l] = t->dim[d];
		}
	}
	if (n > EINSUM_AXES)
		return kit_refuse_attr(u, "equation", "has more than 16 letters");
	e->out.type.rank = (uint32_t)strlen(e->out.letters);
	for (uint32_t d = 0; d < e->out.type.rank; d++) {
		const uint32_t l = einsum_letter(e->out.letters[d]);

		if (!seen[l])
			return kit_refuse_attr(u, "equation",
					       "has a letter behind -> that no operand has");
		if (strchr(e->out.letters + d + 1, e->out.letters[d]) != NULL)
			return kit_refuse_attr(u, "equation", "has a letter twice behind ->");
		e->out.type.dim[d] = e->extent[l];
	}
	return PCTL_OK;
}

/* The type of a product of two, which tensor.matmul decides. */
static pctl_status product_type(const kit_use *u, uint32_t a, uint32_t b, const char *out,
				uint32_t *type)
{
	const pctl_tensor_type in[] = {{a, 2, {1, 1}}, {b, 2, {1, 1}}};
	const pctl_attr attr[] = {[MATMUL_ATTR_ORDER] = {"order", "exact", 0},
				  [MATMUL_ATTR_OUT] = {"out", out, 0},
				  [MATMUL_ATTR_TRANSPOSE_A] = {"transpose_a", "false", 0},
				  [MATMUL_ATTR_TRANSPOSE_B] = {"transpose_b", "false", 0}};
	const pctl_op_query q = {.head = PCTL_HEAD(pctl_op_query),
				 .op = u->q->op,
				 .n_in = 2,
				 .in = in,
				 .attr = attr,
				 .n_attr = KIT_COUNT(attr)};
	const kit_use use = {u->inst, u->op, u->call, &q};
	matmul_shape s;
	const pctl_status status = matmul_shape_of(&use, &s);

	*type = s.out.dtype;
	return status;
}

static int has(const einsum_operand *o, char letter)
{
	return strchr(o->letters, letter) != NULL;
}

/* Letters of an operand that are not in `to` yet. */
static void add_letters(const einsum_operand *from, int in_a, int in_b, int in_out,
			const einsum_operand *a, const einsum_operand *b, const einsum_operand *out,
			char *to)
{
	for (const char *l = from->letters; *l != '\0'; l++)
		if (has(a, *l) == in_a && has(b, *l) == in_b && has(out, *l) == in_out &&
		    strchr(to, *l) == NULL)
			to[strlen(to)] = *l;
}

/* Those of the result in its order, so that the product often lies as it shall. */
static einsum_step step_of(const einsum_operand *a, const einsum_operand *b,
			   const einsum_operand *out)
{
	einsum_step s;

	memset(&s, 0, sizeof(s));
	add_letters(out, 1, 1, 1, a, b, out, s.batch);
	add_letters(out, 1, 0, 1, a, b, out, s.m);
	add_letters(out, 0, 1, 1, a, b, out, s.n);
	for (int both = 1; both >= 0; both--) {
		add_letters(a, 1, both, 0, a, b, out, s.k);
		add_letters(b, both, 1, 0, a, b, out, s.k);
	}
	return s;
}

/* Saturating. */
static uint64_t extent_of(const einsum *e, const char *letters)
{
	uint64_t n = 1;

	for (; *letters != '\0'; letters++) {
		const uint64_t x = e->extent[einsum_letter(*letters)];

		n = x != 0 && n > UINT64_MAX / x ? UINT64_MAX : n * x;
	}
	return n;
}

/* The matrices that a step is made of, no smaller than what they are multiplied to. */
static pctl_status step_limits(const kit_use *u, const einsum *e, const einsum_step *s)
{
	const char *const pairs[][2] = {{s->m, s->k}, {s->k, s->n}, {s->m, s->n}};
	pctl_status status =
		kit_limit(u, "products of an element", extent_of(e, s->k), TENSOR_TERMS_MAX);

	for (uint32_t i = 0; status == PCTL_OK && i < KIT_COUNT(pairs); i++) {
		char all[3 * EINSUM_AXES + 1] = "";

		strcat(strcat(strcat(all, s->batch), pairs[i][0]), pairs[i][1]);
		status = kit_limit(u, "elements of an operand in order", extent_of(e, all),
				   TENSOR_ELEMENTS_MAX);
	}
	return status;
}

static int sums_up(const einsum *e)
{
	for (const char *l = e->in[0].letters; *l != '\0'; l++)
		if (!has(&e->out, *l))
			return 1;
	return 0;
}

static pctl_status one(const kit_use *u, einsum *e)
{
	const char *out = u->q->attr[EINSUM_ATTR_OUT].text;
	const uint32_t x = e->in[0].type.dtype;

	e->out.type.dtype = x;
	if (*out != '\0' && strcmp(out, kit_dtype_name(x)) != 0)
		return kit_refuse_attr(u, "out", "is the type of the one operand");
	if (sums_up(e) &&
	    (x == PCTL_SCALAR_BOOL || (!tensor_is_float(x) && kit_dtype_bytes(x) < 4)))
		return kit_refuse_type(u, 0, "a type that tensor.sum takes");
	return PCTL_OK;
}

/* Types and sizes of one product, or of two. */
static pctl_status products(const kit_use *u, einsum *e)
{
	const char *out = u->q->attr[EINSUM_ATTR_OUT].text;
	einsum_operand *first = &e->in[0], *last = &e->in[e->n_in - 1];
	einsum_step s;
	pctl_status status = PCTL_OK;

	if (e->n_in == 3) {
		for (uint32_t i = 0; i < 2; i++)
			for (const char *l = e->in[i].letters; *l != '\0'; l++) {
				if (has(&e->between, *l) || (!has(last, *l) && !has(&e->out, *l)))
					continue;
				if (e->between.type.rank == PCTL_RANK_MAX)
					return kit_refuse_attr(
						u, "equation",
						"leaves more than 8 axes between its products");
				e->between.letters[e->between.type.rank] = *l;
				e->between.type.dim[e->between.type.rank++] =
					e->extent[einsum_letter(*l)];
			}
		status = product_type(u, first->type.dtype, e->in[1].type.dtype, "",
				      &e->between.type.dtype);
		s = step_of(first, &e->in[1], &e->between);
		if (status == PCTL_OK)
			status = step_limits(u, e, &s);
		first = &e->between;
	}
	if (status == PCTL_OK)
		status = product_type(u, first->type.dtype, last->type.dtype, out,
				      &e->out.type.dtype);
	s = step_of(first, last, &e->out);
	return status != PCTL_OK ? status : step_limits(u, e, &s);
}

pctl_status einsum_of(const kit_use *u, einsum *e)
{
	pctl_status status;

	memset(e, 0, sizeof(*e));
	status = parse(u, e);
	if (status == PCTL_OK && u->q->n_in != e->n_in)
		return kit_refuse_attr(u, "equation",
				       "has not as many operands as there are tensors");
	for (uint32_t i = 0; status == PCTL_OK && i < e->n_in; i++) {
		e->in[i].type = u->q->in[i];
		status = tensor_movable(u, i);
	}
	if (status == PCTL_OK)
		status = measure(u, e);
	if (status == PCTL_OK)
		status = e->n_in == 1 ? one(u, e) : products(u, e);
	return status != PCTL_OK
		       ? status
		       : kit_limit(u, "elements", kit_elements(&e->out.type), TENSOR_ELEMENTS_MAX);
}

static pctl_status infer(const kit_use *u, pctl_op_result *out)
{
	einsum e;
	const pctl_status status = einsum_of(u, &e);

	if (status == PCTL_OK)
		out->out[0] = e.out.type;
	return status;
}

/* ---- the plan ------------------------------------------------------------------------------- */

/* The elements of a tensor in the order of `letters`: repeated along one that it lacks, the diagonal of one that it has twice. */
static void copy_ordered(kit_plan *p, const einsum *e, const einsum_operand *o, uint32_t from,
			 const char *letters, uint32_t to)
{
	static const char text[] =
		"fn product(i: u32) -> T {\n\tvar rest = i;\n\tvar at = 0u;\n"
		"\tfor (var d = 0u; d < 16u; d++) {\n"
		"\t\tat += (rest % params.v[d].x) * params.v[d].y;\n"
		"\t\trest = rest / params.v[d].x;\n\t}\n\treturn x_raw(at);\n}\n";
	const uint64_t bytes = kit_dtype_bytes(o->type.dtype);
	const uint32_t n = (uint32_t)strlen(letters);
	tensor_kernel k =
		tensor_kernel_begin(p, "tensor/einsum_copy.wgsl", extent_of(e, letters), bytes, 0);

	tensor_kernel_read(&k, "x", bytes, from);
	kit_wgsl_add(&k.w, text);
	for (uint32_t d = 0; d < TENSOR_NUMBERS; d++)
		k.params.v[d][0] = 1;
	for (uint32_t d = 0; d < n; d++) {
		uint64_t stride = 1, total = 0;

		for (uint32_t axis = o->type.rank; axis-- > 0; stride *= o->type.dim[axis])
			total += o->letters[axis] == letters[d] ? stride : 0;
		k.params.v[n - 1 - d][0] = (uint32_t)e->extent[einsum_letter(letters[d])];
		k.params.v[n - 1 - d][1] = (uint32_t)total;
	}
	tensor_kernel_run(&k, to);
}

static uint32_t temp_of(kit_plan *p, const einsum *e, const char *letters, uint32_t dtype)
{
	return kit_temp(p, (extent_of(e, letters) * kit_dtype_bytes(dtype) + 7) / 4 * 4);
}

/* A buffer with a factor's matrices [batch, rows, columns], and whether they lie there transposed. */
static uint32_t ordered(kit_plan *p, const einsum *e, const einsum_operand *o, uint32_t from,
			const char *batch, const char *rows, const char *columns, int *transposed)
{
	char letters[3 * EINSUM_AXES + 1] = "";
	uint32_t to;

	strcat(strcat(strcat(letters, batch), columns), rows);
	*transposed = strcmp(letters, o->letters) == 0;
	if (*transposed)
		return from;
	letters[0] = '\0';
	strcat(strcat(strcat(letters, batch), rows), columns);
	if (strcmp(letters, o->letters) == 0)
		return from;
	to = temp_of(p, e, letters, o->type.dtype);
	copy_ordered(p, e, o, from, letters, to);
	return to;
}

static void multiply(kit_plan *p, const einsum *e, const einsum_operand *a, uint32_t from_a,
		     const einsum_operand *b, uint32_t from_b, const einsum_operand *out,
		     uint32_t to)
{
	const einsum_step s = step_of(a, b, out);
	const uint64_t batch = extent_of(e, s.batch), m = extent_of(e, s.m), n = extent_of(e, s.n),
		       k = extent_of(e, s.k);
	einsum_operand product = {.type = out->type};
	char letters[3 * EINSUM_AXES + 1] = "";
	int a_transposed, b_transposed;
	uint32_t buffers[3];

	strcat(strcat(strcat(letters, s.batch), s.m), s.n);
	buffers[0] = ordered(p, e, a, from_a, s.batch, s.m, s.k, &a_transposed);
	buffers[1] = ordered(p, e, b, from_b, s.batch, s.k, s.n, &b_transposed);
	buffers[2] =
		strcmp(letters, out->letters) == 0 ? to : temp_of(p, e, letters, out->type.dtype);
	if (p->status == PCTL_OK) {
		const int is_float = tensor_is_float(out->type.dtype);
		const pctl_attr attr[] = {
			[MATMUL_ATTR_ORDER] = {"order", "exact", 0},
			[MATMUL_ATTR_OUT] = {"out", is_float ? kit_dtype_name(out->type.dtype) : "",
					     0},
			[MATMUL_ATTR_TRANSPOSE_A] = {"transpose_a", a_transposed ? "true" : "false",
						     (uint64_t)a_transposed},
			[MATMUL_ATTR_TRANSPOSE_B] = {"transpose_b", b_transposed ? "true" : "false",
						     (uint64_t)b_transposed}};
		const pctl_tensor_type types[] = {
			{a->type.dtype, 3, {batch, a_transposed ? k : m, a_transposed ? m : k}},
			{b->type.dtype, 3, {batch, b_transposed ? n : k, b_transposed ? k : n}},
			{out->type.dtype, 3, {batch, m, n}}};

		p->status = p->sink->op(p->sink->ctx, "tensor.matmul", 1, buffers, types, 3, attr,
					KIT_COUNT(attr));
	}
	if (buffers[2] == to)
		return;
	/* The letters of a product are those of the result, so at most 8. */
	for (uint32_t d = 0; letters[d] != '\0' && d < PCTL_RANK_MAX; d++) {
		product.letters[d] = letters[d];
		product.type.dim[d] = e->extent[einsum_letter(letters[d])];
	}
	copy_ordered(p, e, &product, buffers[2], out->letters, to);
}

/* One tensor: what is summed over is brought to the end. */
static void plan_one(kit_plan *p, const einsum *e)
{
	einsum_step s = {.batch = ""};
	char letters[2 * EINSUM_AXES + 1] = "";
	uint32_t buffers[2] = {0, kit_out(p, 0)};

	add_letters(&e->in[0], 1, 1, 0, &e->in[0], &e->in[0], &e->out, s.k);
	strcat(strcat(letters, e->out.letters), s.k);
	if (*s.k == '\0') {
		copy_ordered(p, e, &e->in[0], kit_in(p, 0), e->out.letters, buffers[1]);
		return;
	}
	buffers[0] = strcmp(letters, e->in[0].letters) == 0
			     ? kit_in(p, 0)
			     : temp_of(p, e, letters, e->out.type.dtype);
	if (buffers[0] != kit_in(p, 0))
		copy_ordered(p, e, &e->in[0], kit_in(p, 0), letters, buffers[0]);
	if (p->status == PCTL_OK) {
		const pctl_attr attr[] = {{"axes", "1", 0}, {"keep", "false", 0}};
		const pctl_tensor_type types[] = {
			{e->out.type.dtype, 2, {kit_elements(&e->out.type), extent_of(e, s.k)}},
			{e->out.type.dtype, 1, {kit_elements(&e->out.type)}}};

		p->status = p->sink->op(p->sink->ctx, "tensor.sum", 1, buffers, types, 2, attr,
					KIT_COUNT(attr));
	}
}

static void plan(kit_plan *p)
{
	uint32_t between;
	einsum e;

	p->status = einsum_of(p->use, &e);
	if (p->status != PCTL_OK || kit_elements(&e.out.type) == 0)
		return;
	if (e.n_in == 1) {
		plan_one(p, &e);
		return;
	}
	if (e.n_in == 2) {
		multiply(p, &e, &e.in[0], kit_in(p, 0), &e.in[1], kit_in(p, 1), &e.out,
			 kit_out(p, 0));
		return;
	}
	between = temp_of(p, &e, e.between.letters, e.between.type.dtype);
	multiply(p, &e, &e.in[0], kit_in(p, 0), &e.in[1], kit_in(p, 1), &e.between, between);
	multiply(p, &e, &e.between, between, &e.in[2], kit_in(p, 2), &e.out, kit_out(p, 0));
}

/* ---- the op --------------------------------------------------------------------------------- */

#define TYPES "f32|f16|bf16|i8|u8|i16|u16|i32|u32|i64|u64[...]"
static const pctl_port in[] = {{"xs", TYPES, "one to three tensors", PCTL_PORT_LIST, 0}};
static const pctl_port out[] = {{"y", TYPES, "the result", 0, 0}};
static const pctl_attr_desc attr[] = {
	{"equation", NULL,
	 "a letter for each axis of each tensor, commas between, -> and the letters of y: "
	 "ij,jk->ik",
	 PCTL_ATTR_STRING, 0, 0, 0},
	{"out", "",
	 "type of y where there are two tensors or three and one is a float: f32 (if not given), "
	 "f16 or bf16",
	 PCTL_ATTR_STRING, 0, 0, 0},
};
static const pctl_law laws[] = {
	TENSOR_LAW(
		"swapped",
		"of two or more: the first two and their letters change places, and y is the same"),
	TENSOR_LAW("turned", "the letters of y reversed give y with its axes reversed")};
static void (*const checks[])(kit_law *) = {einsum_law_swapped, einsum_law_turned};

static const kit_op ops[] = {{
	.desc = {KIT_PLAN_OP("tensor.einsum", 1, PCTL_CLASS_STRICT),
		 .doc = "products and sums over axes that letters name, exact",
		 .spec = "A letter names an axis and has one extent; twice in one tensor it is the "
			 "diagonal. Letters that y "
			 "lacks are summed over.\n"
			 "One tensor: its elements, or tensor.sum's sums of them. Two: each "
			 "element is tensor.matmul's exact sum "
			 "of the exact products over all\n"
			 "those letters, rounded once to y's type. Three: first the first two, "
			 "over the letters that neither the "
			 "third nor y has, in f32 or\n"
			 "the integer type of tensor.matmul; that, and then the third.\nA tensor "
			 "has at most 2^31 elements, a sum "
			 "at most 2^29 products.",
		 KIT_IN(in), KIT_OUT(out), KIT_ATTR(attr)},
	.rules = KIT_PLAN_RULES(laws, tensor_boundaries),
	.laws = checks,
	.problems = &einsum_problems,
	.problem = einsum_problem,
	.infer = infer,
	.plan = plan,
	.reference = einsum_reference,
}};

const kit_family tensor_einsum_family = {ops, NULL, KIT_COUNT(ops), 0};
