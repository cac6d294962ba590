/* The state of one compile, and what its stages offer each other. Nothing here outlives
 * pctl_wgsl_compile, and nothing is shared between two compiles. */
#ifndef PIPECTL_COMPILER_WGSL_COMPILE_H
#define PIPECTL_COMPILER_WGSL_COMPILE_H

#include <setjmp.h>

#include "foundation/base/arena.h"
#include "compiler/wgsl/ast.h"
#include "compiler/wgsl/wgsl.h"

#define WGSL_MAX_SOURCE (16u << 20)	   /* bytes of one text */
#define WGSL_MAX_SOURCES_BYTES (64u << 20) /* bytes of all texts of a compile */
#define WGSL_MAX_NESTING 200u		   /* of the parser: brackets, blocks, templates */
#define WGSL_MAX_DEPTH 1000u		   /* of an expression's tree */
#define WGSL_MAX_CHAIN 2000u   /* of declarations that need each other, in expression steps */
#define WGSL_MAX_COMPOSITE 15u /* levels of a composite type, WGSL's limit */
#define WGSL_MAX_LEAVES 65536u /* scalars of a constant */
#define WGSL_MAX_ERRORS 256u
#define WGSL_MAX_INSTRUCTIONS (1u << 20) /* of a program, the limit of its wire form */
#define WGSL_MAX_REGIONS 250u
#define WGSL_MAX_ENTRIES 256u
#define WGSL_MAX_WORDS (1u << 22)	 /* of a program: 16 MiB */
#define WGSL_MAX_CONST_LEAVES (1u << 23) /* scalars of all constants of a text */
#define WGSL_MAX_MEMBERS 1023u		 /* WGSL's limit */
#define WGSL_MAX_PARAMETERS 255u	 /* WGSL's limit */
#define WGSL_MAX_NAME 255u		 /* bytes */
#define WGSL_MAX_COPIED \
	(1u << 21) /* statements and expressions written out where they are called */
#define WGSL_MAX_TOUCHED (1u << 24) /* variables that functions touch, summed over their calls */
#define WGSL_MAX_TYPE_BYTES 0x7fffffffull

struct error;
struct builtin;
struct concrete;
struct settled;

enum { GIVE_UP_MEMORY = 1, GIVE_UP_REPORTED };

struct wgsl {
	pctl_arena *arena;
	pctl_builder *builder;
	const pctl_wgsl_options *options;
	const pctl_call *call;
	jmp_buf give_up; /* with GIVE_UP_* */

	struct concrete *concrete; /* concrete.c; NULL: overrides have no values yet */

	/* report.c */
	struct error *errors;
	uint32_t n_errors, cap_errors, n_dropped;
	uint32_t quiet; /* > 0: the code is never evaluated, so that constant evaluation does not
			   fail */

	/* lex.c */
	struct sym *syms;
	uint32_t n_syms, cap_syms;
	uint32_t *sym_table;
	uint32_t cap_sym_table;
	struct source **sources;
	uint32_t n_sources, cap_sources;
	uint32_t next_base;

	/* parser: the module, in order of the text */
	struct decl *decls, **decls_end;
	uint32_t is_cut; /* the rest of a text was not read: unknown names may stand there */
	struct function *functions, **functions_end;
	struct function *order, **order_end; /* callees first */

	/* checker */
	struct type_table types;
	uint32_t depth;
	uint32_t poisoned; /* something got the error type; then there must be an error */
	struct function *fn;
	uint32_t fn_number;
	uint32_t has_pointers; /* a function takes a pointer */
	uint32_t scope;
	struct decl **scope_stack;
	uint32_t n_scope_stack, cap_scope_stack;
	uint32_t n_breakable, n_loops;
	uint32_t n_marks;
	struct for_loop *loop;
	struct loop_body *loop_body; /* check_loop.c */
	uint32_t n_const_leaves, const_full;
	struct settled *settled; /* check_coerce.c */
	uint32_t n_settled, cap_settled;
	uint64_t *scratch; /* compose.c: leaves on the way to a constant */
	uint32_t n_scratch;

	/* lower_pointer.c */
	struct clone **clones; /* hash table */
	uint32_t n_clones, cap_clones;
	uint32_t n_lowered; /* functions so far, clones too */
	uint32_t nesting; /* of statements and expressions being lowered, over all open functions */
	uint32_t n_copied; /* steps of lowering that made code a further time */

	/* meta.c */
	struct used_op *used;
	struct max_note *maxima;
	uint32_t max_dispatch[3];
	uint64_t scale;
	uint32_t has_dispatch, has_scale;
	uint32_t subgroup_size; /* declared; 0: not */
	uint32_t max_turns;	/* the same */
};

/* ---- memory: never NULL; lack of memory ends the compile ---- */
void *pctl_wgsl_alloc(struct wgsl *c, size_t n);
const char *pctl_wgsl_format(struct wgsl *c, const char *fmt, ...) PCTL_PRINTF(2, 3);
/* Room for element n of an array that lives in the arena. */
void *pctl_wgsl_grow(struct wgsl *c, void *items, uint32_t n, uint32_t *cap, size_t size);
#define WGSL_NEW(c, T) ((T *)pctl_wgsl_alloc(c, sizeof(T)))

/* Version 1 of the consensus rules replays what it took: each use of this is one of its mistakes. */
static inline int pctl_wgsl_is_first_rules(const struct wgsl *c)
{
	return (c->options->flags & PCTL_WGSL_RULES_1) != 0;
}

/* ---- report.c: errors are kept and emitted sorted by position ---- */
void pctl_wgsl_error(struct wgsl *c, uint32_t code, uint32_t pos, uint32_t end, const char *hint,
		     const char *fmt, ...) PCTL_PRINTF(6, 7);
/* The same with a second place, "declared here". */
void pctl_wgsl_error_note(struct wgsl *c, uint32_t code, uint32_t pos, uint32_t end,
			  const char *hint, uint32_t note_pos, uint32_t note_end, const char *note,
			  const char *fmt, ...) PCTL_PRINTF(9, 10);
pctl_status pctl_wgsl_emit_errors(struct wgsl *c);
/* Source, line and columns of a range. */
struct source *pctl_wgsl_locate(struct wgsl *c, uint32_t pos, uint32_t end, pctl_pos *out);
uint32_t pctl_wgsl_source_number(const struct wgsl *c, uint32_t pos);
/* What the builder is given next stands there. */
void pctl_wgsl_build_origin(struct wgsl *c, uint32_t pos, uint32_t end);

/* ---- sources ---- */
struct source *pctl_wgsl_source_add(struct wgsl *c, const char *name, const char *text, uint64_t n);
static inline const char *pctl_wgsl_sym_text(const struct wgsl *c, uint32_t sym)
{
	return c->syms[sym].text;
}

/* ---- parse.c: adds the module's declarations ---- */
void pctl_wgsl_parse(struct wgsl *c, struct source *src);

/* ---- parse_attr.c: diagnostic filters; code: of their errors ---- */
void pctl_wgsl_check_diagnostic(struct wgsl *c, uint32_t code, const struct attr *a);
void pctl_wgsl_check_filters(struct wgsl *c, uint32_t code, const struct attr *first);

/* ---- meta.c, use.c ---- */
void pctl_wgsl_meta(struct wgsl *c, struct source *src);
void pctl_wgsl_use(struct wgsl *c, const char *op, size_t n, uint32_t pos, uint32_t end);
/* After checking: the maxima's paths are resolved and handed to the builder (lowering). */
void pctl_wgsl_meta_check(struct wgsl *c);
void pctl_wgsl_meta_lower(struct wgsl *c);

/* ---- check ---- */
void pctl_wgsl_check_module(struct wgsl *c);

/* ---- concrete.c ---- */
/* The code an error gets while overrides have values: that of override values, or 0 for what they
 * are not to blame for. */
uint32_t pctl_wgsl_concrete_code(uint32_t code);
/* The values, for a message. */
const char *pctl_wgsl_concrete_values(struct wgsl *c);
/* 1 and the leaf when a value was given for the override. */
struct decl;
int pctl_wgsl_concrete_value(const struct wgsl *c, const struct decl *d, uint64_t *leaf);
/* The check of a module, but only what the entry point reaches. */
void pctl_wgsl_concrete_check(struct wgsl *c);

/* ---- lower ---- */
pctl_status pctl_wgsl_lower(struct wgsl *c, pctl_program **out);

/* A hint naming the nearest of the names in reach, or listing them; NULL when nothing helps. */
const char *pctl_wgsl_hint_nearest(struct wgsl *c, const char *word, const char *const *names,
				   uint32_t n);

#endif
