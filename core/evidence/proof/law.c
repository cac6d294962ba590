/* From declared laws to equations. */
#include "evidence/proof/law.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "runtime/graph/type.h"
#include "evidence/proof/law_private.h"

struct making {
	const pctl_op_source *ops;
	const pctl_op_function *f;
	pctl_arena *arena;
	const pctl_call *call;
	pctl_law_equation *all;
	uint32_t n, n_prose;
	pctl_status status; /* of the first fault that is no prose */
};

static void note(struct making *m, pctl_status status)
{
	if (m->status == PCTL_OK)
		m->status = status;
}

/* Tell of a fault at its place: the "file" is the law. */
static void tell(struct making *m, const char *name, const char *text, const pctl_law_fault *fault)
{
	char where[224], function[PCTL_FUNCTION_NAME];
	pctl_pos pos = {
		.file = where, .line = 1, .column = fault->at + 1, .end_column = fault->end + 1};
	pctl_status status;

	snprintf(where, sizeof(where), "%s, %s", pctl_function_name(m->f, function), name);
	status = pctl_refuse_at(m->call, fault->code, &pos,
				fault->code == PC5301_LAW_PROSE
					? "the grammar of laws stands in oplib.h at pctl_law; "
					  "prose belongs into spec"
					: NULL,
				"\"%.400s\": %s", text, fault->message);
	if (fault->code == PC5301_LAW_PROSE)
		m->n_prose++;
	else
		note(m, status);
}

static int is_taken(const struct making *m, const char *name)
{
	for (uint32_t i = 0; i < m->n; i++)
		if (strcmp(m->all[i].name, name) == 0)
			return 1;
	return 0;
}

static const char *unique(const struct making *m, const char *name)
{
	const char *out = pctl_arena_dup(m->arena, name);

	for (uint32_t k = 2; out != NULL && is_taken(m, out); k++)
		out = pctl_arena_printf(m->arena, "%s (%" PRIu32 ")", name, k);
	return out;
}

static int speaks_of(const pctl_law_tree *tree, uint32_t dtype)
{
	for (uint32_t i = 0; i < tree->n_dtypes; i++)
		if (tree->dtypes[i] == dtype)
			return 1;
	return tree->n_dtypes == 0;
}

static void add(struct making *m, uint32_t law, const char *name, const char *text)
{
	pctl_law_equation e = {.law = law};
	pctl_law_fault fault;
	pctl_law_tree tree;
	int good = pctl_law_parse(text, m->arena, &tree, &fault);

	if (good && !speaks_of(&tree, m->f->dtype))
		return;
	if (good)
		good = pctl_law_type(&tree, m->ops, m->f, m->arena, &e, &fault);
	if (!good) {
		tell(m, name, text, &fault);
		return;
	}
	e.text = pctl_arena_dup(m->arena, text);
	e.name = unique(m, name);
	if (e.text == NULL || e.name == NULL)
		note(m, pctl_no_memory(m->call, "a law"));
	else
		m->all[m->n++] = e;
}

static void named(struct making *m, const pctl_law *law)
{
	char function[PCTL_FUNCTION_NAME];
	pctl_law_said said[2];
	const char *why;
	const uint32_t n = pctl_law_say(law, m->f, said, &why);

	if (why != NULL)
		note(m, pctl_refuse(m->call, PC5303_LAW_SHAPE, "%s: the law \"%s\" %s",
				    pctl_function_name(m->f, function),
				    pctl_law_kind_name(law->law), why));
	for (uint32_t i = 0; i < n; i++)
		add(m, law->law, said[i].name, said[i].text);
}

pctl_status pctl_laws_of_rules(const pctl_op_source *ops, const pctl_op_function *f,
			       const pctl_op_rules *rules, pctl_arena *arena, const pctl_call *call,
			       pctl_law_equation **out, uint32_t *n_out, uint32_t *n_prose)
{
	struct making m = {.ops = ops, .f = f, .arena = arena, .call = call};
	uint32_t customs = 0;
	char name[32];

	*out = NULL;
	*n_out = *n_prose = 0;
	m.all = pctl_arena_array(arena, 2u * rules->n_laws + 1, sizeof(*m.all));
	if (m.all == NULL)
		return pctl_no_memory(call, "laws");
	for (uint32_t i = 0; i < rules->n_laws; i++) {
		const pctl_law *law = &rules->laws[i];

		if (law->law != PCTL_LAW_CUSTOM) {
			named(&m, law);
			continue;
		}
		snprintf(name, sizeof(name), "custom %" PRIu32, ++customs);
		add(&m, law->law, name, law->custom == NULL ? "" : law->custom);
	}
	*out = m.all;
	*n_out = m.n;
	*n_prose = m.n_prose;
	return m.status;
}

pctl_status pctl_laws_of(const pctl_op_source *ops, const pctl_op_function *f, pctl_arena *arena,
			 const pctl_call *call, pctl_law_equation **out, uint32_t *n_out,
			 uint32_t *n_prose)
{
	static const pctl_op_rules none = {.head = PCTL_HEAD(pctl_op_rules)};
	const pctl_op_rules *rules = f->op.lib->rules(f->op.inst, f->op.index);

	return pctl_laws_of_rules(ops, f, rules == NULL ? &none : rules, arena, call, out, n_out,
				  n_prose);
}
