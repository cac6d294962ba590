/* Symbols of ports: dimensions that an op's ports name ("f32[n,k]"), bound when sizes are known. The host holds what feeds the ports, and
 * what infer answers, against the declaration itself. */
#ifndef PIPECTL_RUNTIME_GRAPH_SYMBOLS_H
#define PIPECTL_RUNTIME_GRAPH_SYMBOLS_H

#include "runtime/graph/ops.h"
#include "runtime/graph/type.h"

/* A symbol and its value: `port` is the first that gave it, where its dimension `dim` is that. */
typedef struct pctl_port_symbol {
	const char *name, *port;
	uint64_t value;
	uint32_t dim, reserved;
} pctl_port_symbol;

/* Names live in the arena that the patterns were parsed into. */
typedef struct pctl_port_symbols {
	pctl_port_symbol at[2 * PCTL_PORTS_MAX * PCTL_RANK_MAX];
	uint32_t n, reserved;
} pctl_port_symbols;

/*
 * What a pattern asks of a shape, symbols bound as they are met. Returns 1, or 0 and *bad: the dimension of t that does not fit,
 * UINT32_MAX for a wrong number of dimensions; *known is then the symbol that has another value, NULL where a number is declared.
 */
int pctl_port_symbols_unify(pctl_port_symbols *s, const char *port, const pctl_type_pattern *p,
			    const pctl_tensor_type *t, uint32_t *bad,
			    const pctl_port_symbol **known);

/*
 * Hold a use of an op against its ports: shapes of inputs (q), which must agree where ports share a symbol, then types and shapes of
 * outputs (out, NULL: not known yet). What feeds a port that is stretched has a shape of its own, and is not held.
 *
 * Errors: PC4106 (two inputs that give one symbol two values, or another number than is declared), PC4132 (an output that is not what
 * its port declares: the library's fault).
 */
pctl_status pctl_op_symbols(const pctl_op_ref *op, const pctl_op_query *q,
			    const pctl_tensor_type *out, const char *job, const pctl_pos *pos,
			    const pctl_call *call);

#endif
