/* Laws of tensor.einsum, and the problems that they are tried on. */
#include <stdio.h>

#include "einsum.h"

static const char *const equations[] = {
	"ij,jk->ik",	"bij,bjk->bik", "ij,kj->ki",  "i,j->ij",      "ij,j->i",     "ii->i",
	"ii->",		"ij->ji",	"ij->",	      "ij,ij->",      "ijk,jl->kil", "ij,kl->ik",
	"ij,jk,kl->il", "i,ij,j->",	"i,j,k->kji", "abi,bij,j->ba"};
/* By letters: a, b, i, j, k, l. */
static const uint64_t extents[][6] = {{2, 3, 4, 5, 2, 3},
				      {1, 1, 1, 1, 1, 1},
				      {2, 0, 3, 2, 4, 1},
				      {1, 2, 7, 0, 3, 2},
				      {3, 1, 2, 17, 2, 0}};

const pctl_op_problems einsum_problems = {PCTL_HEAD(pctl_op_problems),
					  "16 equations of up to three tensors",
					  KIT_COUNT(equations) * KIT_COUNT(extents) * TENSOR_KINDS};

void einsum_problem(kit_problem *p)
{
	const char *equation = equations[p->number % KIT_COUNT(equations)];
	const uint64_t *extent = extents[p->number / KIT_COUNT(equations) % KIT_COUNT(extents)];
	const uint32_t kind =
		(uint32_t)(p->number / KIT_COUNT(equations) / KIT_COUNT(extents)) % TENSOR_KINDS;
	uint32_t port = 0;

	if (p->number >= einsum_problems.n || tensor_problem_of_others(p) ||
	    (strchr(equation, ',') == NULL && kit_dtype_bytes(p->dtype) < 4 &&
	     !tensor_is_float(p->dtype))) {
		kit_problem_none(p);
		return;
	}
	tensor_problem_attr(p, EINSUM_ATTR_EQUATION, equation);
	for (const char *l = equation; *l != '-'; l += *l == ',') {
		pctl_tensor_type t = {.dtype = p->dtype};

		for (; *l != ',' && *l != '-'; l++)
			t.dim[t.rank++] = extent[strchr("abijkl", *l) - "abijkl"];
		tensor_problem_fill(p, port++, &t, kind);
	}
	kit_problem_rigid(p);
}

/* The law's op with another equation. */
static uint32_t with(kit_law *l, const char *equation, const uint32_t *in)
{
	const pctl_attr attr[] = {{"equation", equation, 0}, {"out", kit_law_attr(l, "out"), 0}};

	return kit_law_use(l, l->use.op->desc.name, in, l->use.q->n_in, attr, 2, 1);
}

void einsum_law_swapped(kit_law *l)
{
	const char *equation = kit_law_attr(l, "equation");
	const size_t first = strcspn(equation, ","), n = strlen(equation);
	const size_t second = first < n ? strcspn(equation + first + 1, ",-") : 0;
	const uint32_t in[] = {1, 0, 2};
	char text[64];

	if (l->use.q->n_in < 2)
		return;
	snprintf(text, sizeof(text), "%.*s,%.*s%s", (int)second, equation + first + 1, (int)first,
		 equation, equation + first + 1 + second);
	kit_law_equal(l, with(l, text, in), kit_law_out(l, 0));
}

/* Element i of a tensor whose axes are those of `t` reversed. */
static uint64_t turned(const void *ctx, uint64_t i)
{
	const pctl_tensor_type *t = ctx;
	uint64_t at = 0, stride = 1;

	/* The last axis of the turned one is the first of t. */
	for (uint32_t d = t->rank; d-- > 1;)
		stride *= t->dim[d];
	for (uint32_t d = 0; d < t->rank; d++) {
		at += i % t->dim[d] * stride;
		i /= t->dim[d];
		stride /= d + 1 < t->rank ? t->dim[d + 1] : 1;
	}
	return at;
}

void einsum_law_turned(kit_law *l)
{
	const uint32_t y = kit_law_out(l, 0), in[] = {0, 1, 2};
	const pctl_tensor_type *t = &l->c->types[y];
	const char *equation = kit_law_attr(l, "equation"), *letters = strchr(equation, '>') + 1;
	const size_t n = strlen(letters);
	pctl_tensor_type reversed = *t;
	char text[64];

	if (kit_elements(t) == 0)
		return;
	snprintf(text, sizeof(text), "%s", equation);
	for (size_t d = 0; d < n; d++) {
		text[(size_t)(letters - equation) + d] = letters[n - 1 - d];
		reversed.dim[d] = t->dim[n - 1 - d];
	}
	kit_law_equal(l, with(l, text, in), tensor_law_taken(l, &reversed, y, turned, t));
}
