/* A program under change: the decoded one's tables, copied so that they can grow. */
#ifndef PCTL_MOCK_EDIT_H
#define PCTL_MOCK_EDIT_H

#include "pipectl/program.h"
#include "faults/script.h"

/* p is a view: types, functions, insts and words are ours, everything else belongs to the program it came from. */
typedef struct mock_edit {
	pctl_program p;
	uint32_t cap_types, cap_insts, cap_words;
	uint32_t failed; /* no memory */
	/* A function being written anew: instructions before `done` are new, those from `old` on are not read yet. */
	pctl_inst *old;
	const pctl_function *fn;
	uint64_t value; /* what stands behind '=' of the fault */
	uint32_t *map;	/* of values */
	uint32_t n_new;
} mock_edit;

/* 0: no memory. */
int mock_edit_open(const pctl_program *src, mock_edit *out);
void mock_edit_close(mock_edit *e);

/* Append words; the index of the first. */
uint32_t mock_edit_words(mock_edit *e, const uint32_t *words, uint32_t n);
/* A scalar or vector (width 2..4) type, appended when there is none. */
uint32_t mock_edit_type(mock_edit *e, uint8_t scalar, uint32_t width);
/* How often each value of a function is used; freed by the caller, NULL without memory. */
uint32_t *mock_edit_uses(mock_edit *e, const pctl_function *fn);

/* Append an instruction to the function under way; its value. */
uint32_t mock_emit(mock_edit *e, uint16_t op, uint32_t type, const uint32_t *args, uint32_t n);
/* Append old instruction v with its operands renamed; its value. */
uint32_t mock_emit_copy(mock_edit *e, uint32_t v);
/* Write every function anew: `each` emits what stands for old instruction v and gives the new value. */
void mock_rewrite(mock_edit *e, uint32_t (*each)(mock_edit *e, uint32_t v, const pctl_inst *in,
						 const uint32_t *uses));

/* mutate.c: apply a fault. */
void mock_mutate(mock_edit *e, const mock_fault *f);
/* Native operations become the strict ones of the reference. */
void mock_make_strict(mock_edit *e);

#endif
