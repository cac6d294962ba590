/* The tree of a WGSL module, filled by the parser and annotated in place by the checker: types,
 * constant values and what names mean. Lowering reads it and changes nothing but the slots marked
 * so. */
#ifndef PIPECTL_COMPILER_WGSL_AST_H
#define PIPECTL_COMPILER_WGSL_AST_H

#include "compiler/wgsl/lex.h"
#include "compiler/wgsl/types.h"

/* When a value is known: at compile time, when overrides are set, or while running. */
enum stage { STAGE_CONST, STAGE_OVERRIDE, STAGE_RUNTIME };

enum expr_kind {
	EX_ERROR,   /* reported already; everything built on it stays silent */
	EX_LITERAL, /* scalar, type */
	EX_NAME,    /* sym, templates: a variable, value or type */
	EX_CALL,    /* sym, templates, args: function, builtin or constructor */
	EX_MEMBER,  /* a . sym */
	EX_INDEX,   /* a [ b ] */
	EX_UNARY,   /* op a; op is T_MINUS, T_BANG, T_TILDE */
	EX_BINARY,  /* a op b */
	EX_ADDRESS, /* & a */
	EX_DEREF    /* * a */
};

/* What a call turned out to be. */
enum call_kind { CALL_NONE, CALL_FUNCTION, CALL_BUILTIN, CALL_CONSTRUCT, CALL_CONVERT, CALL_ZERO };

/*
 * One expression. pos .. end are its bytes; op_pos the operator, member name or opening bracket.
 *
 * type    of the value; of the memory behind it when `ref`
 * ref     1: denotes memory (space, access)
 * leaf    STAGE_CONST: the scalars of the value in memory order, NULL when all are zero. i32 and
 *         abstract values are sign-extended to 64 bits, u32 and bool zero-extended.
 * swizzle  of a vector member access: 2 bits a component, from the lowest; n_args components
 */
struct expr {
	uint8_t kind;
	uint8_t op;
	uint8_t stage;
	uint8_t paren;
	uint8_t ref;
	uint8_t space;
	uint8_t access;
	uint8_t call;
	uint8_t checked;
	uint8_t has_templates;
	uint16_t depth;
	uint32_t pos, end, op_pos;
	uint32_t sym;
	uint32_t n_args;
	uint32_t index; /* member number, swizzle, or builtin number */
	struct expr *a; /* first operand, or first argument of a call */
	struct expr *b; /* second operand, or first template argument of a name or call */
	struct expr *next;
	const struct type *type;
	const uint64_t *leaf;
	struct decl *decl;
	uint64_t scalar;
};

enum decl_kind {
	DECL_ERROR, /* broken text; keeps its name from being called unknown */
	DECL_CONST,
	DECL_OVERRIDE,
	DECL_LET,
	DECL_VAR, /* of a module or function */
	DECL_PARAM,
	DECL_ALIAS,
	DECL_STRUCT,
	DECL_FUNCTION,
	DECL_ASSERT
};

enum decl_state { DECL_NEW, DECL_BUSY, DECL_DONE };

struct attr {
	struct attr *next;
	uint32_t sym;
	uint32_t pos, end;
	struct expr *args;
	uint32_t n_args;
	uint32_t has_parens;
};

struct member {
	struct member *next;
	uint32_t sym;
	uint32_t pos, end;
	struct attr *attrs;
	struct expr *type_expr;
	const struct type *type;
	uint32_t size, align; /* as written, 0 where not */
	uint32_t builtin;     /* PCTL_BUILTIN_*, 0: none */
	uint32_t first_leaf;
};

struct structure {
	struct decl *decl;
	struct member *members;
	struct member **at; /* the same, by number */
	uint32_t n_members;
	uint32_t checked; /* 1: consensus layout looked at */
};

struct call_edge {
	struct call_edge *next;
	struct function *callee;
	uint32_t pos, end;
};

/* What a function and all it calls do to a variable of the module, or to the memory behind a pointer parameter
 * (check_alias.c). pos .. end is the first write, or the first read where nothing is written. */
struct touch {
	struct touch *next;
	struct decl *root;
	uint32_t is_written;
	uint32_t pos, end;
};

struct var_use {
	struct var_use *next;
	struct decl *var;
};

struct function {
	struct decl *decl;
	struct decl *params;
	uint32_t n_params;
	struct expr *return_expr;
	struct attr *return_attrs;
	const struct type *return_type;
	struct stmt *body;
	uint32_t is_entry;
	uint32_t must_use;
	uint32_t broken; /* could not be parsed whole: no check for a missing return */
	struct expr *workgroup_size[3];
	struct call_edge *calls; /* in reverse order of the text */
	struct var_use *vars;	 /* module variables it names, in reverse order */
	struct touch *touches;
	uint32_t
		has_pointers; /* among its parameters: lower_pointer.c makes its code for each call */
	uint32_t exits;	      /* lowering: EXITS_* of lower_pointer.c, 0: not known */
	/* Lowering: where it is written out, the locals of its result and of the flag that it returned,
	 * and the numbers of the functions that have them. */
	uint32_t result, result_of, returned, returned_of;
	uint32_t visit;	  /* of the search for recursion */
	uint32_t reached; /* 1 + number of the last entry that reaches it */
	uint32_t index;	  /* lowering: function of the program */
	struct function *next;
	struct function *callee_first; /* the next in an order in which callees come first */
};

/*
 * One declaration. Slots from `index` on belong to lowering.
 */
struct decl {
	uint8_t kind;
	uint8_t state;
	uint8_t stage;
	uint8_t space;	/* 0: not written */
	uint8_t access; /* 0: not written */
	uint8_t is_global;
	uint8_t assigned;      /* written to inside the loop that owns it */
	uint8_t is_bound;      /* has both group and binding */
	uint8_t is_known;      /* an override with a value (concrete.c), which is leaf */
	uint8_t in_continuing; /* used in the `continuing` of the loop whose body declares it */
	uint32_t sym;
	uint32_t pos, end; /* of the name */
	uint32_t from, to; /* of a global: the whole declaration */
	uint32_t number;   /* of a global, in order of the text: stages.c */
	uint32_t scope;
	struct attr *attrs;
	struct expr *type_expr;
	struct expr *init;
	const struct type *type;
	const uint64_t *leaf;
	struct decl *next;
	struct decl *shadow; /* what the name meant outside */
	struct function *function;
	struct structure *structure;
	uint32_t group, binding;
	uint32_t id;	     /* of an override: @id or 0xffffffff */
	uint32_t builtin;    /* of an entry's parameter: PCTL_BUILTIN_* */
	uint32_t index;	     /* module variable or override of the program; local of the function */
	uint32_t value;	     /* value id of let and parameter */
	uint32_t last_use;   /* function number that used it last, to list it once */
	uint32_t touched_by; /* check_alias.c: the function that `touch` is of */
	struct touch *touch;
	struct decl *root; /* of a pointer: the variable or parameter it comes from */
	struct decl
		*passed; /* check_alias.c: the parameter of the call looked at that is given it */
	uint32_t passed_by;  /* number of that call */
	uint32_t local_of;   /* number of the function `index` is a local of */
	struct place *place; /* of a pointer */
};

enum stmt_kind {
	ST_ERROR,
	ST_BLOCK,
	ST_IF,
	ST_SWITCH,
	ST_FOR,
	ST_LOOP,       /* `loop`; its last statement may be: */
	ST_CONTINUING, /* the last statement of which may be: */
	ST_BREAK_IF,
	ST_REFUSED_LOOP, /* what the consensus rules have not of these, and `while`: reported, the body is still checked */
	ST_BREAK,
	ST_CONTINUE,
	ST_RETURN,
	ST_ASSIGN, /* a op= b; op T_EQ or the operator; a NULL is the phony `_` */
	ST_STEP,   /* a ++, a -- */
	ST_CALL,
	ST_DECL,
	ST_ASSERT,
	ST_DISCARD
};

struct selector {
	struct selector *next;
	struct expr *e; /* NULL: default */
	uint32_t pos, end;
};

struct clause {
	struct clause *next;
	struct selector *selectors;
	uint32_t n_selectors;
	uint32_t pos, end;
	struct stmt *body;
};

struct stmt {
	uint8_t kind;
	uint8_t op;
	uint8_t chained; /* this `if` stands behind `else` */
	uint8_t reserved;
	uint32_t pos, end;
	uint32_t close; /* position of the closing brace of a block */
	struct stmt *next;
	struct expr *a, *b;
	struct stmt *body;
	struct stmt *other; /* else; init of for */
	struct stmt *update;
	struct clause *clauses;
	struct decl *decl;
};

#endif
