/* The checker: what names mean, types, constant values, and WGSL's rules. It annotates the tree; an
 * expression it could not make sense of gets the error type, and whatever is built on that stays
 * silent. */
#ifndef PIPECTL_COMPILER_WGSL_CHECK_H
#define PIPECTL_COMPILER_WGSL_CHECK_H

#include "compiler/wgsl/builtins.h"
#include "compiler/wgsl/compile.h"

/* A `for` around the code being checked. */
struct for_loop {
	struct for_loop *outer;
	struct decl *variable;	   /* NULL when it could not be told */
	const struct stmt *update; /* not NULL while its update is checked */
};

/* ---- concrete.c ---- */
/* 1 when the value is none of the compiler's, also where overrides have values: an abstract number
 * beside it gets its type. */
int pctl_wgsl_is_late(const struct wgsl *c, const struct expr *e);

/* ---- wgsl.c ---- */
/* Check a text with values for its overrides, and make nothing of it. */
pctl_status pctl_wgsl_judge(const char *text, uint64_t n, const pctl_wgsl_options *options,
			    struct concrete *concrete, const pctl_call *call);

/* ---- names.c ---- */
void pctl_wgsl_names_init(struct wgsl *c);

/* ---- resolve.c ---- */
void pctl_wgsl_declare_globals(struct wgsl *c);
void pctl_wgsl_scope_enter(struct wgsl *c);
void pctl_wgsl_scope_leave(struct wgsl *c);
void pctl_wgsl_declare_local(struct wgsl *c, struct decl *d);
/* What a name means here, resolved; NULL when it is a predeclared one or unknown. */
struct decl *pctl_wgsl_lookup(struct wgsl *c, uint32_t sym, uint32_t pos, uint32_t end);
void pctl_wgsl_unknown_name(struct wgsl *c, const struct expr *e);
void pctl_wgsl_resolve(struct wgsl *c, struct decl *d, uint32_t pos, uint32_t end);
/* A declared value: type and initialiser of const, let, override, var. */
void pctl_wgsl_check_value_decl(struct wgsl *c, struct decl *d);
void pctl_wgsl_check_assert(struct wgsl *c, struct decl *d);

/* ---- stages.c ---- */
/* Take what only other stages need off the module, where a compute entry point stands beside it. */
void pctl_wgsl_leave_out_stages(struct wgsl *c);
/* Take the declaration *at off the module and its name out of reach. */
void pctl_wgsl_forget(struct wgsl *c, struct decl **at);

/* ---- attributes.c ---- */
void pctl_wgsl_check_struct(struct wgsl *c, struct decl *d);
void pctl_wgsl_check_var_attrs(struct wgsl *c, struct decl *d);
void pctl_wgsl_check_override_attrs(struct wgsl *c, struct decl *d);
void pctl_wgsl_check_signature(struct wgsl *c, struct decl *d);

/* ---- check_type.c ---- */
/* The type an expression names; the error type after an error. */
const struct type *pctl_wgsl_check_type(struct wgsl *c, struct expr *e);
/* The type of a predeclared name with templates; NULL with *partial set when parts must be
 * inferred. */
const struct type *pctl_wgsl_builtin_type(struct wgsl *c, struct expr *e, const struct builtin *b,
					  int *partial);
/* The code for which a predeclared name is refused at a position, or 0. */
uint32_t pctl_wgsl_is_refused(const struct wgsl *c, const struct builtin *b, uint32_t pos);
void pctl_wgsl_refused_name(struct wgsl *c, const struct expr *e, const struct builtin *b);

/* ---- check_expr.c ---- */
void pctl_wgsl_check_expr(struct wgsl *c, struct expr *e);
/* Check an expression whose value is wanted; its type, the error type after an error. */
const struct type *pctl_wgsl_check_value(struct wgsl *c, struct expr *e);
/* Make it `to` if it is that or an abstract number that fits; else an error. what: "the condition".
 */
int pctl_wgsl_coerce(struct wgsl *c, struct expr *e, const struct type *to, const char *what);
/* May an abstract number be taken as one of that scalar? */
int pctl_wgsl_yields_to(const struct type *from, uint32_t to);
/* The same as coerce without an error. */
int pctl_wgsl_can_coerce(const struct expr *e, const struct type *to);
/* Settle an abstract value to i32 or f32; 0 after an error. */
int pctl_wgsl_settle(struct wgsl *c, struct expr *e);
void pctl_wgsl_set_error(struct wgsl *c, struct expr *e);
/* A constant non-negative integer for attributes and counts. 0 after an error. */
int pctl_wgsl_const_u32(struct wgsl *c, struct expr *e, const char *what, uint64_t least,
			uint64_t most, uint32_t *out);
/* Give e the constant value with n leaves. */
uint64_t *pctl_wgsl_set_leaves(struct wgsl *c, struct expr *e, const struct type *t, uint32_t n);
static inline uint64_t pctl_wgsl_leaf(const struct expr *e, uint32_t i)
{
	return e->leaf ? e->leaf[i] : 0;
}
static inline int pctl_wgsl_is_error(const struct expr *e)
{
	return e->type->kind == TY_ERROR;
}

/* ---- check_override.c ---- */
/* Refuse what function `spec` cannot compute: it has scalars and no control. */
void pctl_wgsl_check_spec(struct wgsl *c, const struct expr *e);

/* ---- check_operator.c ---- */
void pctl_wgsl_check_unary(struct wgsl *c, struct expr *e);
void pctl_wgsl_check_binary(struct wgsl *c, struct expr *e);
/* Type of `a op b`, whose operands are checked values, and rules on constant operands. NULL after
 * an error. */
const struct type *pctl_wgsl_operator_type(struct wgsl *c, uint32_t op, struct expr *a,
					   struct expr *b, uint32_t pos, uint32_t end);

/* ---- check_call.c, check_construct.c, check_builtin.c ---- */
void pctl_wgsl_check_call(struct wgsl *c, struct expr *e);
void pctl_wgsl_check_construct(struct wgsl *c, struct expr *e, const struct type *t);
void pctl_wgsl_check_infer(struct wgsl *c, struct expr *e, const struct builtin *b);
void pctl_wgsl_check_builtin_call(struct wgsl *c, struct expr *e, const struct builtin *b);
/* check_subgroup.c */
void pctl_wgsl_check_subgroup(struct wgsl *c, struct expr *e, const struct builtin *b);
/* The code for which subgroups are refused at a position, or 0; its hint, and what is said. */
uint32_t pctl_wgsl_subgroups_refused(const struct wgsl *c, uint32_t pos);
const char *pctl_wgsl_subgroups_hint(const struct wgsl *c, uint32_t code);
const char *pctl_wgsl_subgroups_why(const struct wgsl *c, uint32_t code);
/* check_tile.c */
/* The type that subgroup_matrix_..<T, columns, rows> names; the error type after an error. */
const struct type *pctl_wgsl_tile_type(struct wgsl *c, struct expr *e, const struct builtin *b);
void pctl_wgsl_check_tile_call(struct wgsl *c, struct expr *e, const struct builtin *b);
/* Of a checked load or store: components lie by columns. */
int pctl_wgsl_tile_by_columns(struct wgsl *c, const struct expr *e);
/* The code for which tiles are refused at a position, or 0; its hint, and what is said. */
uint32_t pctl_wgsl_tiles_refused(const struct wgsl *c, uint32_t pos);
const char *pctl_wgsl_tiles_hint(const struct wgsl *c, uint32_t code);
const char *pctl_wgsl_tiles_why(const struct wgsl *c, uint32_t code);
/* check_float.c */
void pctl_wgsl_check_float_call(struct wgsl *c, struct expr *e, const struct builtin *b);
void pctl_wgsl_check_float_elementwise(struct wgsl *c, struct expr *e, const struct builtin *b);
/* Stage and value of a float function whose type and arguments are right. */
void pctl_wgsl_fold_float(struct wgsl *c, struct expr *e, const struct builtin *b);
int pctl_wgsl_check_finite(struct wgsl *c, struct expr *e);
void pctl_wgsl_check_atomic(struct wgsl *c, struct expr *e, const struct builtin *b);
/* Bring the arguments to one scalar: the concrete one among them, or abstract. 0 after an error. */
int pctl_wgsl_unify(struct wgsl *c, struct expr *first, uint32_t *scalar);
/* "u32, i32", for messages. */
const char *pctl_wgsl_argument_types(struct wgsl *c, const struct expr *e);
void pctl_wgsl_wrong_arguments(struct wgsl *c, const struct expr *e, const char *expected);
/* The same, and the call has no type. */
void pctl_wgsl_refuse_arguments(struct wgsl *c, struct expr *e, const char *expected);
/* The latest stage of the arguments. */
uint32_t pctl_wgsl_args_stage(const struct expr *e);
/* e is no constant where one is wanted, as `what` says: PC2410, or PC2109 where all that is wrong is that a value of it is larger than
 * a constant can be. */
void pctl_wgsl_not_constant(struct wgsl *c, const struct expr *e, const char *hint,
			    const char *what);

/* ---- const.c: arithmetic on leaves; 0 or the code of the error ---- */
uint32_t pctl_wgsl_eval_binary(const struct wgsl *c, uint32_t op, uint32_t scalar, uint64_t a,
			       uint64_t b, uint64_t *out);
uint32_t pctl_wgsl_eval_unary(const struct wgsl *c, uint32_t op, uint32_t scalar, uint64_t a,
			      uint64_t *out);
/* An elementwise builtin by opcode, up to four arguments. */
uint32_t pctl_wgsl_eval_builtin(uint32_t opcode, uint32_t scalar, const uint64_t *args,
				uint64_t *out);
uint64_t pctl_wgsl_eval_cast(uint32_t from, uint32_t to, uint64_t v);
int pctl_wgsl_fits(uint32_t scalar, int64_t v);
uint64_t pctl_wgsl_wrap(uint32_t scalar, uint64_t v);
const char *pctl_wgsl_leaf_text(struct wgsl *c, uint32_t scalar, uint64_t v);
void pctl_wgsl_eval_error(struct wgsl *c, uint32_t code, uint32_t scalar, uint32_t pos,
			  uint32_t end);

/* ---- check_stmt.c, check_for.c, check_function.c ---- */
#define FLOW_NEXT 1u
#define FLOW_BREAK 2u
#define FLOW_CONTINUE 4u
#define FLOW_RETURN 8u
/* ---- check_loop.c ---- */
uint32_t pctl_wgsl_check_loop(struct wgsl *c, struct stmt *s);
uint32_t pctl_wgsl_check_continuing(struct wgsl *c, struct stmt *s);
/* Around the body of every loop. */
void pctl_wgsl_enter_body(struct wgsl *c, const struct stmt *s);
void pctl_wgsl_leave_body(struct wgsl *c);
/* A `continue` of the nearest loop; a name that means d. */
void pctl_wgsl_note_continue(struct wgsl *c, const struct stmt *s);
void pctl_wgsl_note_name(struct wgsl *c, const struct expr *e, struct decl *d);
/* 1 and an error: the jump stands in a `continuing`, which it would leave. */
int pctl_wgsl_in_continuing(struct wgsl *c, const struct stmt *s);
/* The `continuing` of a loop, the `break if` of that; NULL: none. */
const struct stmt *pctl_wgsl_continuing_of(const struct stmt *loop);
const struct stmt *pctl_wgsl_break_if_of(const struct stmt *continuing);

/* Ways a statement may end, FLOW_* bits (WGSL's behaviours). */
uint32_t pctl_wgsl_check_stmt(struct wgsl *c, struct stmt *s);
uint32_t pctl_wgsl_check_block(struct wgsl *c, struct stmt *s, int own_scope);
uint32_t pctl_wgsl_check_for(struct wgsl *c, struct stmt *s);
void pctl_wgsl_check_assigned(struct wgsl *c, const struct expr *target);
void pctl_wgsl_check_function(struct wgsl *c, struct function *f);
/* Mark what an entry point reaches: functions and, by last_use, module variables. */
void pctl_wgsl_reach(struct wgsl *c, struct function *entry, uint32_t mark);
/* Refuse recursion. */
void pctl_wgsl_check_calls(struct wgsl *c);

/* ---- check_alias.c ---- */
/* Refuse calls whose pointers give one function two ways to memory that it writes. After check_calls. */
void pctl_wgsl_check_aliases(struct wgsl *c);

/* ---- layout.c ---- */
uint64_t pctl_wgsl_align_of(struct wgsl *c, const struct type *t);
uint64_t pctl_wgsl_stride_of(struct wgsl *c, const struct type *elem);
void pctl_wgsl_check_uniform(struct wgsl *c, const struct type *t, const struct expr *at);
void pctl_wgsl_check_consensus(struct wgsl *c, const struct type *t);

/* ---- lower_module.c ---- */
/* Value id in function `spec` of an override expression. */
uint32_t pctl_wgsl_spec_value(struct wgsl *c, struct expr *e);

#endif
