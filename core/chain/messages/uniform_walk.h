/* What both directions of a uniform share: where they stand in the struct, and refusing there. Private to uniform*.c. */
#ifndef PIPECTL_CHAIN_MESSAGES_UNIFORM_WALK_H
#define PIPECTL_CHAIN_MESSAGES_UNIFORM_WALK_H

#include "chain/messages/uniform.h"

#define UNIFORM_PATH_BYTES 400u

/* text is the path of the part under work, cut when it grows too long; levels counts the types around it. */
typedef struct uniform_walk {
	const pctl_program *p;
	const pctl_call *call;
	uint8_t *block;
	uint32_t levels;
	size_t n_path;
	char path[UNIFORM_PATH_BYTES];
} uniform_walk;

/* Step into a member, element or component, and back to `before`, the length of the path there. */
size_t pctl_uniform_into_member(uniform_walk *w, const char *name);
size_t pctl_uniform_into_part(uniform_walk *w, const pctl_type *t, uint32_t i);
void pctl_uniform_back(uniform_walk *w, size_t before);

/* Enter a type: PC5777 when it nests too deep or has too many members, PC5760 when no uniform can have it. */
pctl_status pctl_uniform_enter(uniform_walk *w, const pctl_type *t);

/* Items that stand for a vector, matrix or array in a document. */
uint32_t pctl_uniform_parts(const pctl_type *t);

/* Refuse at the path; offset SIZE_MAX: none to tell. */
pctl_status pctl_uniform_refuse(const uniform_walk *w, uint32_t code, size_t offset,
				const char *hint, const char *fmt, ...) PCTL_PRINTF(5, 6);

#endif
