/* Types of the program that is written, by the rules of the pass. */
#include "compiler/legalize/legal_parts.h"

#include <stdlib.h>

/* Members keep their offsets; alignment and size of the whole are asked for where the parts no
 * longer bring them. */
uint32_t legal_struct(legal *l, const pctl_type *t, uint32_t (*part)(legal *l, uint32_t type))
{
	pctl_member_spec *specs = calloc(t->count, sizeof(*specs));
	uint64_t end = 0;
	uint32_t align = 1, type;

	if (!specs) {
		legal_refuse_memory(l);
		return 0;
	}
	for (uint32_t i = 0; i < t->count; i++) {
		const pctl_member *m = &l->p->members[t->first_member + i];
		const pctl_type *now;

		specs[i] = (pctl_member_spec){.name = pctl_str(l->p, m->name),
					      .type = part(l, m->type),
					      .offset = m->offset};
		now = pctl_build_type_at(l->b, specs[i].type);
		if (now && now->align > align)
			align = now->align;
		end = (uint64_t)m->offset + (now ? now->size : 0);
	}
	if (align < t->align)
		specs[0].align = t->align;
	if (t->size && ((end + t->align - 1) & ~(uint64_t)(t->align - 1)) != t->size)
		specs[t->count - 1].size = t->size - specs[t->count - 1].offset;
	type = pctl_build_struct(l->b, specs, t->count);
	free(specs);
	return type;
}

/* The depth of nesting is bounded by the verifier. */
uint32_t legal_type(legal *l, uint32_t type)
{
	if (type && !l->types[type])
		l->types[type] = l->rules->type(l, type);
	return l->types[type];
}

uint32_t legal_stored_type(legal *l, uint32_t type)
{
	if (!l->rules->stored)
		return legal_type(l, type);
	if (type && !l->stored[type])
		l->stored[type] = l->rules->stored(l, type);
	return l->stored[type];
}
