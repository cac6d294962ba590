/* What the lowering of calls with pointers is made of: lower_pointer.c decides, lower_inline.c writes a function
 * out, lower_clone.c makes one of its own. Not for other files. */
#ifndef PIPECTL_COMPILER_WGSL_LOWER_POINTER_H
#define PIPECTL_COMPILER_WGSL_LOWER_POINTER_H

#include "compiler/wgsl/lower.h"

/* A call and its arguments, by parameter: each is a value or, for a pointer, a place. */
struct arguments {
	const struct expr *call;
	struct function *f;
	uint32_t *values;
	struct place *places;
};

/* Both give the value of the call, VALUE_NONE where it has none. */
uint32_t pctl_wgsl_write_out(struct lower *l, const struct arguments *x);
uint32_t pctl_wgsl_call_clone(struct lower *l, const struct arguments *x);

/* Where the place of a pointer parameter is kept. */
static inline struct place *pctl_wgsl_place_of(struct lower *l, struct decl *p)
{
	if (!p->place)
		p->place = WGSL_NEW(l->c, struct place);
	return p->place;
}

#endif
