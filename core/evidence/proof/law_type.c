/* Typing: from terms as written to terms over op calls with dtypes. Literals take the dtype of what stands beside
 * them. */
#include <stdio.h>
#include <string.h>

#include "runtime/graph/type.h"
#include "compiler/eval/float.h"
#include "evidence/proof/law_private.h"

struct typing {
	const pctl_op_source *ops;
	const pctl_op_function *f;
	pctl_arena *arena;
	pctl_law_fault *fault;
};

static int is_bare(const pctl_law_node *n)
{
	return n->kind == PCTL_NODE_LITERAL || n->kind == PCTL_NODE_WIDTH;
}

static pctl_law_term *term_make(struct typing *t, uint32_t kind, uint32_t dtype)
{
	pctl_law_term *out = pctl_arena_alloc(t->arena, sizeof(*out));

	if (out == NULL) {
		pctl_law_fault_at(t->fault, PC2_NOMEM, 0, 0, "no memory for a law");
		return NULL;
	}
	out->kind = kind;
	out->dtype = dtype;
	return out;
}

/* Of a literal, or of what is read as another dtype, `dtype` is wanted. */
static pctl_law_term *resolve(struct typing *t, const pctl_law_node *n, uint32_t dtype);

static pctl_law_term *constant(struct typing *t, const pctl_law_node *n, uint32_t dtype)
{
	pctl_law_term *out = term_make(t, PCTL_LAW_TERM_CONST, dtype);

	if (out != NULL && !pctl_law_literal(n->text, n->n_text, dtype, out->bits)) {
		pctl_law_fault_at(
			t->fault, PC5301_LAW_PROSE, n->at, n->end, "\"%.*s\" is no number of %s",
			n->n_text > 40 ? 40 : (int)n->n_text, n->text, pctl_dtype_name(dtype));
		return NULL;
	}
	return out;
}

/* The same value read as another dtype. */
static pctl_law_term *cast(struct typing *t, const pctl_law_node *n)
{
	const pctl_law_term *inner = resolve(t, n->args[0], n->dtype);
	pctl_law_term *out;

	if (inner == NULL)
		return NULL;
	if (pctl_dtype_bytes(inner->dtype) != pctl_dtype_bytes(n->dtype)) {
		pctl_law_fault_at(t->fault, PC5301_LAW_PROSE, n->at, n->end,
				  "the bits of %s cannot be read as %s, which has another size",
				  pctl_dtype_name(inner->dtype), pctl_dtype_name(n->dtype));
		return NULL;
	}
	out = term_make(t, inner->kind, n->dtype);
	if (out != NULL) {
		*out = *inner;
		out->dtype = n->dtype;
	}
	return out;
}

/* The op of a call; the law's own op is of its own version. */
static int find(struct typing *t, const pctl_law_node *n, uint32_t dtype, pctl_op_function *out)
{
	const pctl_op_desc *own = t->f->op.desc;
	char name[112], versioned[128];

	snprintf(name, sizeof(name), "%.*s", n->n_text > 100 ? 100 : (int)n->n_text, n->text);
	if (n->n_text <= 100 && pctl_function_find(t->ops, name, own->name, dtype, out)) {
		if (strcmp(out->op.desc->name, own->name) != 0 ||
		    out->op.desc->version == own->version)
			return 1;
		snprintf(versioned, sizeof(versioned), "%.100s@%u", own->name, own->version);
		if (pctl_function_find(t->ops, versioned, NULL, dtype, out))
			return 1;
	}
	return pctl_law_fault_at(t->fault, PC5302_LAW_UNKNOWN, n->at, n->at + n->n_text,
				 "there is no function op \"%s\" on %s", name,
				 pctl_dtype_name(dtype));
}

static pctl_law_term *call_of(struct typing *t, const pctl_law_node *n)
{
	pctl_law_term *args[4] = {NULL}, *out;
	pctl_op_function fn;
	uint32_t dtype = 0;

	for (uint32_t i = 0; i < n->n_args; i++) {
		if (is_bare(n->args[i]))
			continue;
		args[i] = resolve(t, n->args[i], 0);
		if (args[i] == NULL)
			return NULL;
		dtype = dtype == 0 ? args[i]->dtype : dtype;
	}
	dtype = dtype == 0 ? t->f->dtype : dtype;
	for (uint32_t i = 0; i < n->n_args; i++) {
		if (args[i] == NULL)
			args[i] = constant(t, n->args[i], dtype);
		if (args[i] == NULL)
			return NULL;
		if (args[i]->dtype != dtype) {
			pctl_law_fault_at(t->fault, PC5301_LAW_PROSE, n->args[i]->at,
					  n->args[i]->end, "the operands of \"%.*s\" are %s and %s",
					  n->n_text > 40 ? 40 : (int)n->n_text, n->text,
					  pctl_dtype_name(dtype), pctl_dtype_name(args[i]->dtype));
			return NULL;
		}
	}
	if (!find(t, n, dtype, &fn))
		return NULL;
	if (fn.n_in != n->n_args) {
		pctl_law_fault_at(t->fault, PC5301_LAW_PROSE, n->at, n->end,
				  "%s takes %u operands, not %u", fn.op.desc->name, fn.n_in,
				  n->n_args);
		return NULL;
	}
	out = term_make(t, PCTL_LAW_TERM_CALL, fn.out_dtype);
	if (out == NULL)
		return NULL;
	out->fn = fn;
	for (uint32_t i = 0; i < n->n_args; i++)
		out->args[i] = args[i];
	return out;
}

static pctl_law_term *resolve(struct typing *t, const pctl_law_node *n, uint32_t dtype)
{
	pctl_law_term *out;

	switch (n->kind) {
	case PCTL_NODE_VAR:
		out = term_make(t, PCTL_LAW_TERM_VAR, t->f->dtype);
		if (out != NULL)
			out->var = n->var;
		return out;
	case PCTL_NODE_TYPED:
		return constant(t, n->args[0], n->dtype);
	case PCTL_NODE_CAST:
		return cast(t, n);
	case PCTL_NODE_CALL:
		return call_of(t, n);
	default:
		return constant(t, n, dtype != 0 ? dtype : t->f->dtype);
	}
}

static int relate(struct typing *t, const pctl_law_clause *c, pctl_relation *out)
{
	pctl_law_term *left = NULL, *right = NULL;

	out->rel = c->rel;
	if (!is_bare(c->left) || c->right == NULL)
		left = resolve(t, c->left, 0);
	if (c->right != NULL && !(is_bare(c->left) && is_bare(c->right)))
		right = resolve(t, c->right, left != NULL ? left->dtype : 0);
	if (left == NULL && t->fault->code == 0)
		left = resolve(t, c->left, right != NULL ? right->dtype : 0);
	if (c->right != NULL && right == NULL && t->fault->code == 0)
		right = resolve(t, c->right, 0);
	out->left = left;
	out->right = right;
	if (t->fault->code != 0)
		return 0;
	if (c->right != NULL && left->dtype != right->dtype)
		return pctl_law_fault_at(t->fault, PC5301_LAW_PROSE, c->at, c->end,
					 "the sides are %s and %s", pctl_dtype_name(left->dtype),
					 pctl_dtype_name(right->dtype));
	if (c->right == NULL && (left->dtype >= 32 || !pctl_float_is((uint8_t)left->dtype)))
		return pctl_law_fault_at(t->fault, PC5301_LAW_PROSE, c->at, c->end,
					 "%s is no float, every value of it is a number",
					 pctl_dtype_name(left->dtype));
	return 1;
}

int pctl_law_type(const pctl_law_tree *tree, const pctl_op_source *ops, const pctl_op_function *f,
		  pctl_arena *arena, pctl_law_equation *out, pctl_law_fault *fault)
{
	struct typing t = {ops, f, arena, fault};
	pctl_relation *guards = pctl_arena_array(arena, tree->n_guards + 1, sizeof(*guards));

	memset(fault, 0, sizeof(*fault));
	if (guards == NULL)
		return pctl_law_fault_at(fault, PC2_NOMEM, 0, 0, "no memory for a law");
	for (uint32_t i = 0; i < tree->n_guards; i++)
		if (!relate(&t, &tree->guards[i], &guards[i]))
			return 0;
	if (!relate(&t, &tree->claim, &out->claim))
		return 0;
	out->guards = guards;
	out->n_guards = tree->n_guards;
	out->n_vars = tree->n_vars;
	out->dtype = f->dtype;
	return 1;
}
