/* The walk over a module, for the files that judge and meter it (contract_module.h). */
#ifndef PIPECTL_CHAIN_CONTRACTS_CONTRACT_WALK_H
#define PIPECTL_CHAIN_CONTRACTS_CONTRACT_WALK_H

#include "chain/contracts/contract_module.h"
#include "foundation/base/str.h"

#define OP_END 0x0b
#define OP_I32_CONST 0x41
#define TYPE_I32 0x7f
#define TYPE_F32 0x7d
#define TYPE_F64 0x7c
#define TYPE_NONE 0x40

typedef struct module_function {
	const uint8_t *parameters;
	uint32_t n_parameters;
	uint8_t result, reserved[3]; /* TYPE_NONE: there is none */
} module_function;

/* A module being walked. bad: what is wrong with it, the first thing. wanted: an export that is looked for. */
typedef struct module_walk {
	const uint8_t *bytes;
	size_t n, at;
	const char *bad;
	uint64_t found, most; /* of a limit; most 0: it is none */
	module_function *types;
	uint32_t *functions; /* of which type: imported ones first */
	uint32_t n_types, n_functions, n_imported, n_defined, n_globals, has_memory;
	uint32_t lacks_memory, has_floats; /* has_floats: the body that is rewritten */
	uint64_t branching;		   /* of the module so far, times locals */
	const char *wanted, *parameters, *result;
	int is_found;
} module_walk;

/* 0, having noted the first thing that is wrong, and nothing is left to be read. */
int walk_fail(module_walk *w, const char *why);
/* 1 where nothing is wrong so far and `found` is at most `most`, which `what` says. */
int walk_within(module_walk *w, uint64_t found, uint64_t most, const char *what);

/* WITHIN(w, found, id): of a row of contract_limits.def. */
enum {
#define CONTRACT_LIMIT(id, name, most) WALK_LIMIT_##id,
#include "chain/contracts/contract_limits.def"
#undef CONTRACT_LIMIT
};
const char *walk_limit_name(int limit);
#define WITHIN(w, found, id) \
	walk_within(w, found, PCTL_CONTRACT_##id##_MAX, walk_limit_name(WALK_LIMIT_##id))

/* What is next; 0 where nothing is. */
uint8_t walk_byte(module_walk *w);
uint32_t walk_number(module_walk *w);
void walk_skip_signed(module_walk *w);
void walk_skip(module_walk *w, uint64_t n);
int walk_is_plain(uint8_t type); /* i32, i64, f32, f64 */

void walk_put_byte(pctl_str_buf *to, uint8_t v);
void walk_put_number(pctl_str_buf *to, uint64_t v);
void walk_put_signed(pctl_str_buf *to, uint32_t v); /* not below zero as an i32 */

/* The code section: bodies, metered. */
void walk_code(module_walk *w, pctl_str_buf *to);

#endif
