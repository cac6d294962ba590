/* State shared by the files of spmd/. How values look in C, where W is the number of lanes:
 *   the same for all lanes   as clc/internal.h says, v7
 *   one for each lane        a vector of W for each scalar that the type holds (its *leaves*, in order of memory): v7_0,
 *                            v7_1, ..; a bool is uintW, all ones or 0
 *   a mask                   uintW, all ones or 0: m3, lanes that run a region
 * A variable that differs between lanes is an array of leaves, l3[leaf]. Workgroups larger than W go in *steps*: variable s
 * of the source counts them. Where the kernel has a barrier, what stands between two of them is a *segment*, a loop over the
 * steps, and what lives longer is an array by step. */
#ifndef PCTL_OPENCL_SPMD_INTERNAL_H
#define PCTL_OPENCL_SPMD_INTERNAL_H

#include "clc/internal.h"
#include "spmd/spmd.h"

#define SPMD_NONE 0xffffffffu
#define SPMD_LEAVES_MAX 64u	      /* of a value that differs between lanes */
#define SPMD_STRIDE_UNKNOWN INT64_MIN /* from lane to lane */
#define SPMD_STRIDE_UNSET INT64_MAX

/* A region of a function; number 0 is its body. */
typedef struct spmd_region {
	uint32_t parent;
	uint32_t begin, end;	   /* the instructions that open and close it */
	uint32_t test, continuing; /* of loops */
	uint32_t condition;	   /* the value that decides whether it is run; SPMD_NONE */
	uint32_t
		left_at; /* the first jump of some lanes to CONTINUING of this loop, to the end of this switch; SPMD_NONE */
	uint16_t op;	  /* IF, ELSE, SWITCH, CASE, LOOP, BLOCK; 0 the body */
	uint8_t diverges; /* not all lanes that come to it run it, or equally often */
	uint8_t jumps;	  /* some lanes jump within it */
	uint8_t escapes;  /* .. out of it */
	uint8_t waits;	  /* holds a barrier, or what must stand outside of segments */
} spmd_region;

/* What is known of an instruction and its value. */
typedef struct spmd_value {
	uint32_t region;
	uint32_t segment; /* in which it stands, where main has segments; SPMD_NONE outside */
	uint8_t varies;	  /* between lanes */
	uint8_t by_step;  /* differs between steps at least */
	uint8_t partly; /* a store that is not run by all lanes that may load later; a jump of some lanes */
	uint8_t kept;	      /* lives from one segment to another */
	uint8_t ends_segment; /* the one before it */
	uint8_t used;	      /* by an instruction */
	int64_t stride;	      /* from lane to lane; 0: the same */
	uint64_t top;	      /* no lane is above */
} spmd_value;

typedef struct spmd_local {
	uint32_t scope; /* the region in which it lives */
	uint32_t first, last;
	uint32_t segment; /* the one it lives in, else SPMD_NONE */
	uint8_t varies;
	uint8_t by_step;
	int64_t stride;
	uint64_t top;
} spmd_local;

typedef struct spmd_function {
	spmd_region *regions;
	spmd_value *values;
	spmd_local *locals;
	uint32_t n_regions;
	uint8_t result_varies;
	uint8_t masked;	  /* may be called by some lanes */
	uint8_t leaves;	  /* some lanes return before others */
	uint8_t is_plain; /* nothing in it differs between lanes: clc/ writes it */
} spmd_function;

/* A region that is being written. */
typedef struct spmd_open {
	uint32_t region;
	uint32_t mask;	    /* of the lanes that run; SPMD_NONE: all */
	uint32_t loop_mask; /* of a loop: the lanes that are in it */
	uint32_t label;
} spmd_open;

typedef struct spmd {
	emitter e; /* first: clc/ hands it back */
	uint32_t width, steps, invocations;
	uint32_t split; /* main has segments */
	const char *why;
	spmd_function *functions;
	const spmd_function *fn; /* the one being written */
	spmd_open *open;
	uint32_t n_open;
	uint32_t next_mask, next_label, next_region;
	uint32_t returns;		/* something jumps to the end of the function */
	uint32_t leaf;			/* which one is being written */
	uint64_t have[2], have_atomics; /* helpers that were written */
	uint8_t *by_step;		/* locals of main */
	text segment;			/* the one being written, of number .. */
	uint32_t segment_number;
	uint8_t *needed; /* values that a segment takes from others */
} spmd;

/* leaf.c: the scalars of a type, in order. */
uint32_t spmd_leaves(const pctl_program *p, uint32_t type);
/* The type of leaf k; where not NULL, *offset: its bytes from the start, path: its part of a C variable as clc/ names parts. */
uint32_t spmd_leaf(const spmd *s, uint32_t type, uint32_t k, uint64_t *offset, text *path);
/* The first leaf of part i. */
uint32_t spmd_leaf_of_part(const pctl_program *p, uint32_t type, uint32_t i);
/* What an element of a variable of that type is called: uint, ulong, float, double. */
const char *spmd_element(const spmd *s, uint32_t type);

/* regions.c, uniform.c, stride.c, segments.c: what is known before anything is written. */
pctl_status spmd_find_regions(spmd *s, uint32_t f);
void spmd_find_varying(spmd *s);
void spmd_find_strides(spmd *s);
void spmd_find_segments(spmd *s);
/* Is all that main's loops do in storage memory here and there? */
int spmd_only_scatters(const spmd *s);
/* Do some lanes that run region `up` not come to instruction i? */
int spmd_diverges(const spmd_function *fn, uint32_t i, uint32_t up);
/* The region that jump i of a function leaves or continues; 0 for RETURN. */
uint32_t spmd_target(const spmd_function *fn, const pctl_inst *in, uint32_t i);
/* Calls visit(context, value) for each value that an instruction takes. */
void spmd_each_argument(const pctl_program *p, const pctl_function *fn, const pctl_inst *in,
			void (*visit)(void *context, uint32_t value), void *context);

/* Component c of BUILTIN `which`: does it vary, by step alone or by lane, and how. */
typedef struct spmd_builtin {
	uint8_t varies, by_step;
	int64_t stride;
	uint64_t top;
} spmd_builtin;
spmd_builtin spmd_builtin_of(const spmd *s, uint32_t which, uint32_t c);

/* value.c */
/* Leaf k of value v for all lanes. */
void spmd_lanes(const spmd *s, text *t, uint32_t v, uint32_t k);
void spmd_compute(spmd *s, uint32_t v, const pctl_inst *in);
/* "uint16" of a scalar type. */
const char *spmd_vector(const spmd *s, uint32_t type, char *buf);
/* "\tuint16 v7_0 = " */
void spmd_define(spmd *s, uint32_t v, uint32_t leaf, uint32_t type);
/* The mask as a condition for values of 32 bits, or of 64. */
void spmd_choose(spmd *s, text *t, uint32_t mask, int is_wide);
int spmd_varies(const spmd *s, uint32_t v);
/* The mask of the lanes that run now; SPMD_NONE: all. */
uint32_t spmd_mask(const spmd *s);

/* memory.c, atomic.c, helper.c */
void spmd_memory(spmd *s, uint32_t v, const pctl_inst *in, const pctl_place *place);
enum {
	SPMD_LOAD,
	SPMD_LOAD_NEXT,
	SPMD_LOAD_PAIRS,
	SPMD_LOAD_FOURS,
	SPMD_STORE,
	SPMD_STORE_NEXT,
	SPMD_STORE_PAIRS,
	SPMD_STORE_FOURS,
	SPMD_LOAD_PRIVATE,
	SPMD_STORE_PRIVATE
};
/* The name of an access to elements `type` of a space, written on first use. */
const char *spmd_access(spmd *s, uint32_t kind, int local, const char *type, char *buf);
const char *spmd_atomic(spmd *s, uint16_t op, int local, int is_signed, char *buf);
void spmd_prelude(spmd *s);

/* flow.c */
void spmd_control(spmd *s, uint32_t v, const pctl_inst *in);
void spmd_enter(spmd *s, uint32_t region, uint32_t mask);
/* call.c */
void spmd_call(spmd *s, uint32_t v, const pctl_inst *in);
void spmd_head(spmd *s, uint32_t f);
void spmd_return(spmd *s, uint32_t v, const pctl_inst *in);

/* body.c: a function, and main in its segments. */
void spmd_body(spmd *s, uint32_t f);
void spmd_main(spmd *s);

#endif
