/* Released things as rows: a name and what stands for it, found in the texts of tables and headers. Internal to repo. */
#ifndef PIPECTL_FOUNDATION_GIT_RELEASED_H
#define PIPECTL_FOUNDATION_GIT_RELEASED_H

#include "foundation/base/arena.h"
#include "foundation/base/map.h"
#include "pipectl/host.h"

typedef struct pctl_released_row {
	const char *value;
	const char *file;
	uint32_t line;
	uint32_t reserved;
} pctl_released_row;

/* Name to row, in the order of the texts. */
typedef struct pctl_released {
	pctl_arena *arena;
	pctl_map *map;
	uint32_t failed; /* no memory */
	uint32_t reserved;
} pctl_released;

int pctl_released_begin(pctl_released *r); /* 1, or 0 for no memory */
void pctl_released_end(pctl_released *r);

/* PCTL_CODE(4102, NAME, "slug", ..: "4102" and the slug. */
void pctl_released_codes(pctl_released *r, const char *file, const char *text);
/* PCTL_OPCODE(0x10, ADD, V, "vv", ..: "0x10" and `ADD, V, "vv"`. */
void pctl_released_opcodes(pctl_released *r, const char *file, const char *text);
/* #define PCTL_X 1 and the PCTL_X = 1 of enums: the name and the literal. PCTL_ABI_MINOR grows and is left out. */
void pctl_released_numbers(pctl_released *r, const char *file, const char *text);
/* Lines NAME@VERSION SP DIGEST in strictly ascending order; comments begin with '#'. Errors: PC6021. */
pctl_status pctl_released_lock(pctl_released *r, const char *file, const char *text,
			       const pctl_call *call);

#endif
