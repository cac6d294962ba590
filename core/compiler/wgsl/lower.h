/* Lowering of checked text to the program. A function is first written into a list of its own, so
 * that constants can stand once at its start although they are met on the way; flush hands it to
 * the builder. */
#ifndef PIPECTL_COMPILER_WGSL_LOWER_H
#define PIPECTL_COMPILER_WGSL_LOWER_H

#include "compiler/wgsl/check.h"

/* A word of an instruction in the list: a literal, or a value before its final number is known. */
enum word_kind { WORD_LITERAL, WORD_VALUE };

struct word {
	uint32_t kind;
	uint32_t v;
};

/* A value while the function is open: an instruction of the prelude, or of the body with this bit.
 */
#define VALUE_BODY 0x80000000u
#define VALUE_NONE 0xffffffffu

struct inst {
	uint32_t table; /* 1 + the local that holds this array for indexing, 0: none */
	uint16_t op;
	uint8_t used; /* some instruction that stays names it */
	uint8_t yields;
	uint32_t type; /* of the program */
	uint32_t first, n;
	uint32_t pos, end;
	uint32_t final; /* value id in the program */
};

struct list {
	struct inst *insts;
	uint32_t n, cap;
};

/* Memory: a root and the steps below it; see program.h. */
struct place {
	uint32_t root;
	uint32_t n;
	struct word *steps;
	const struct type *type; /* at its end */
};

struct local {
	const char *name;
	uint32_t type;
};

/* An array known at the start that is indexed while running: stored to a local once. */
struct table_local {
	uint32_t value; /* in the prelude */
	uint32_t local;
};

/* A composite constant and its value. */
struct known_leaf {
	const uint64_t *leaf;
	const struct type *type;
	uint32_t value;
};

/* A function that is being written out in place of its call (lower_pointer.c). */
struct inlined {
	struct inlined *outer;
	struct function *f;
	uint32_t has_block;  /* a block around the body is left by BREAK to return */
	uint32_t breakable;  /* open loops and switches of the body: BREAK leaves them first */
	uint32_t is_flagged; /* a `return` was met in the nearest of them */
	uint32_t regions;    /* open where the body starts */
	uint32_t value;	     /* of its one return at the end, or VALUE_NONE */
};

struct lower {
	struct wgsl *c;
	struct function *fn;
	struct list prelude, body;
	struct word *words;
	uint32_t n_words, cap_words;
	struct local *locals;
	uint32_t n_locals, cap_locals;
	uint32_t *known; /* hash table over the prelude: 1 + index */
	uint32_t cap_known;
	struct known_leaf *leaves; /* hash table of the large constants met so far */
	uint32_t n_leaves, cap_leaves;
	struct table_local *tables;
	uint32_t n_tables, cap_tables;
	uint32_t pos, end;	     /* origin of what is emitted next */
	uint32_t terminated;	     /* nothing can follow in this region */
	uint32_t regions;	     /* open ones */
	uint32_t *broken_out;	     /* set to 1 by a `break` out of the nearest loop or switch */
	uint32_t *continued;	     /* set to 1 by a `continue` of the nearest loop */
	uint32_t total, total_words; /* of all functions so far */
	uint32_t number;	     /* of this function among all that are lowered, from 1 */
	uint32_t is_copy;	     /* a clone */
	struct inlined *inlined;     /* the innermost call being written out */
};

/* ---- lower_emit.c ---- */
/* Append; value operands and literals are told apart by the words. */
uint32_t pctl_wgsl_emit(struct lower *l, uint16_t op, uint32_t type, const struct word *words,
			uint32_t n);
uint32_t pctl_wgsl_emit1(struct lower *l, uint16_t op, const struct type *t, uint32_t a);
uint32_t pctl_wgsl_emit2(struct lower *l, uint16_t op, const struct type *t, uint32_t a,
			 uint32_t b);
uint32_t pctl_wgsl_emit3(struct lower *l, uint16_t op, const struct type *t, uint32_t a, uint32_t b,
			 uint32_t d);
void pctl_wgsl_control(struct lower *l, uint16_t op);
void pctl_wgsl_control_value(struct lower *l, uint16_t op, uint32_t value);
/* A value that depends on nothing: made once, at the start of the function. */
uint32_t pctl_wgsl_prelude(struct lower *l, uint16_t op, uint32_t type, const struct word *words,
			   uint32_t n);
uint32_t pctl_wgsl_const(struct lower *l, uint32_t scalar, uint64_t v);
uint32_t pctl_wgsl_const_value(struct lower *l, const struct type *t, const uint64_t *leaf);
uint32_t pctl_wgsl_zero(struct lower *l, const struct type *t);
/* Part i of a composite value; looks through what put it together. */
uint32_t pctl_wgsl_extract(struct lower *l, uint32_t value, const struct type *part, uint32_t i);
/* The local that holds an array of the prelude. */
uint32_t pctl_wgsl_table(struct lower *l, uint32_t value, const struct type *t);
uint32_t pctl_wgsl_new_local(struct lower *l, const char *name, const struct type *t);
/* A value put into a local of its own, and read from there: the root is what the first gives. */
uint32_t pctl_wgsl_spill(struct lower *l, uint32_t value);
uint32_t pctl_wgsl_reload(struct lower *l, uint32_t root);
uint32_t pctl_wgsl_load(struct lower *l, uint16_t op, const struct type *t, const struct place *p);
void pctl_wgsl_store(struct lower *l, const struct place *p, uint32_t value);
/* Memory instruction with n values before the place. */
uint32_t pctl_wgsl_access(struct lower *l, uint16_t op, uint32_t type, const uint32_t *values,
			  uint32_t n, const struct place *p);
/* The same place with steps of its own, and room for one more. */
struct place pctl_wgsl_own_steps(struct lower *l, const struct place *p);
/* One step further; word is a member number or an index value. */
struct place pctl_wgsl_place_step(struct lower *l, const struct place *p, uint32_t kind, uint32_t v,
				  const struct type *t);
void pctl_wgsl_flush(struct lower *l);
static inline void pctl_wgsl_at_expr(struct lower *l, const struct expr *e)
{
	l->pos = e->pos;
	l->end = e->end;
}

/* ---- lower_expr.c, lower_call.c ---- */
uint32_t pctl_wgsl_lower_value(struct lower *l, const struct expr *e);
void pctl_wgsl_lower_place(struct lower *l, const struct expr *e, struct place *out);
uint32_t pctl_wgsl_lower_call(struct lower *l, const struct expr *e);
/* `a op b` of checked types, result type t; scalars meeting vectors are spread. */
uint32_t pctl_wgsl_lower_operator(struct lower *l, uint32_t op, const struct type *t, uint32_t a,
				  const struct type *ta, uint32_t b, const struct type *tb);
/* May it be computed though its value is not wanted: no effects, no checked access, no calls. */
int pctl_wgsl_is_pure(const struct lower *l, const struct expr *e);

/* ---- lower_pointer.c ---- */
/* A call of a function that takes pointers: its value, VALUE_NONE where it has none. */
uint32_t pctl_wgsl_lower_pointer_call(struct lower *l, const struct expr *call);
/* `return` of a function that is written out, and loops and switches in it: what enter gives is handed
 * to leave; only_returns: what goes on behind it does so because of a return. */
void pctl_wgsl_inlined_return(struct lower *l, const struct stmt *s, uint32_t value);
uint32_t pctl_wgsl_breakable_enter(struct lower *l);
void pctl_wgsl_breakable_leave(struct lower *l, uint32_t outer, int only_returns);
/* One more step of lowering in a copy; the compile ends where there are too many. */
void pctl_wgsl_count_copied(struct lower *l);
static inline void pctl_wgsl_step_in(struct lower *l)
{
	l->c->nesting++;
	if (l->is_copy || l->inlined)
		pctl_wgsl_count_copied(l);
}

/* ---- lower_subgroup.c ---- */
uint32_t pctl_wgsl_lower_subgroup(struct lower *l, const struct expr *e);
/* A builtin input of the entry point being lowered: PCTL_BUILTIN_* or INPUT_*. */
uint32_t pctl_wgsl_lower_input(struct lower *l, uint32_t input, const struct type *t);

/* ---- lower_tile.c ---- */
uint32_t pctl_wgsl_lower_tile(struct lower *l, const struct expr *e);

/* ---- lower_stmt.c, lower_loop.c ---- */
void pctl_wgsl_lower_stmt(struct lower *l, const struct stmt *s);
void pctl_wgsl_lower_for(struct lower *l, const struct stmt *s);
void pctl_wgsl_lower_loop(struct lower *l, const struct stmt *s);
void pctl_wgsl_lower_block(struct lower *l, const struct stmt *s);

static inline uint32_t pctl_wgsl_type_id(struct lower *l, const struct type *t)
{
	return pctl_wgsl_ir_type(l->c, t);
}

#endif
