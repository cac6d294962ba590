/* Inside of the checks: what they share. One file a family: check_names.c, check_ops.c,
 * check_shaders.c, check_machines.c, check_types.c with check_layout.c, check_sizes.c, check_uses.c; check.c holds the register and
 * runs it. */
#ifndef PIPECTL_RUNTIME_GRAPH_CHECK_H
#define PIPECTL_RUNTIME_GRAPH_CHECK_H

#include "foundation/base/map.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/pipeline_once.h"

/* jobs, inputs: the number and 1 of each by name, of several the first's. */
typedef struct pctl_checking {
	pctl_graph *graph;
	const pctl_graph_options *options;
	const pctl_call *call; /* of `once` */
	pctl_pipe_once *once;
	pctl_map *jobs, *inputs;
	pctl_status status; /* first error of the running check */
} pctl_checking;

/* The job of number i, which what is said from here on is about. */
pctl_graph_node *pctl_check_node(pctl_checking *c, uint32_t i);
/* What is said from here on is about no job. */
void pctl_check_apart(pctl_checking *c);

/* Keep the first error. */
void pctl_check_keep(pctl_checking *c, pctl_status status);

/* "did you mean ..? available: .." over n names, released with free(). NULL: no memory. */
char *pctl_check_names_hint(const char *word, const char *const *names, uint32_t n);

/* Value of a written value: a literal's own text or the parameter's text in force; NULL (reported)
 * for an unknown one. */
const char *pctl_check_value_text(pctl_checking *c, const pctl_pipe_value *v);

/* The path that a pipeline names, as seen from here; released with free(). NULL: no memory. */
char *pctl_check_beside(const pctl_checking *c, const char *path);

/* A declared type where a shader's variable meets it. dim: what is known of each extent, 0 for the others. */
typedef struct pctl_check_shape {
	uint32_t dtype, rank, any_shape, reserved;
	uint64_t dim[PCTL_RANK_MAX];
} pctl_check_shape;

/* 1 when memory of the element type means to the variable what it means to the pipeline. */
int pctl_check_same_scalar(const pctl_shader_var *v, uint32_t dtype);
/* "u32", "vec4<f32>", "f32 and u32": what a variable is made of; in the arena or a constant. */
const char *pctl_check_var_text(pctl_arena *arena, const pctl_shader_var *v);
/* Refuse (PC4106, at pos) a shape whose rows are no whole elements of the variable, or none of their components. `what`
 * names what has the shape. */
void pctl_check_layout(pctl_checking *c, const pctl_graph_node *n, const pctl_shader_var *v,
		       const pctl_check_shape *shape, const pctl_pos *pos, const char *what);

void pctl_check_parameters(pctl_checking *c);
void pctl_check_identifiers(pctl_checking *c);
void pctl_check_references(pctl_checking *c);
void pctl_check_ops(pctl_checking *c);
void pctl_check_shaders(pctl_checking *c);
void pctl_check_machines(pctl_checking *c);
void pctl_check_edges(pctl_checking *c);
void pctl_check_repeats(pctl_checking *c);
void pctl_check_order(pctl_checking *c);
void pctl_check_types(pctl_checking *c);
void pctl_check_sizes(pctl_checking *c);
void pctl_check_coverage(pctl_checking *c);
void pctl_check_uses(pctl_checking *c);

#endif
