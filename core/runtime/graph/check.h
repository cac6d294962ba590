/* Inside of the checks: what they share. One file a family: check_names.c, check_ops.c,
 * check_shaders.c, check_order.c, check_types.c; check.c holds the register and runs it. */
#ifndef PIPECTL_RUNTIME_GRAPH_CHECK_H
#define PIPECTL_RUNTIME_GRAPH_CHECK_H

#include "runtime/graph/graph.h"

typedef struct pctl_checking {
	pctl_graph *graph;
	const pctl_graph_options *options;
	const pctl_call *call;
	pctl_status status; /* first error of the running check */
} pctl_checking;

/* Keep the first error. */
void pctl_check_keep(pctl_checking *c, pctl_status status);

/* "did you mean ..? available: .." over n names, released with free(). NULL: no memory. */
char *pctl_check_names_hint(const char *word, const char *const *names, uint32_t n);

/* Value of a written value: a literal's own text or the parameter's text in force; NULL (reported)
 * for an unknown one. */
const char *pctl_check_value_text(pctl_checking *c, const pctl_pipe_value *v);

void pctl_check_parameters(pctl_checking *c);
void pctl_check_identifiers(pctl_checking *c);
void pctl_check_ops(pctl_checking *c);
void pctl_check_shaders(pctl_checking *c);
void pctl_check_edges(pctl_checking *c);
void pctl_check_repeats(pctl_checking *c);
void pctl_check_order(pctl_checking *c);
void pctl_check_types(pctl_checking *c);

#endif
