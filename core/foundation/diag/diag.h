/* Collecting and rendering diagnostics. A `pctl_diag_list` is the host's end of every pctl_call: it
 * keeps a copy of each record in order of arrival and can be rendered as text with carets or as
 * JSON. */
#ifndef PIPECTL_FOUNDATION_DIAG_DIAG_H
#define PIPECTL_FOUNDATION_DIAG_DIAG_H

#include <stdio.h>

#include "foundation/base/json.h"
#include "pipectl/host.h"

typedef struct pctl_diag_list pctl_diag_list;

pctl_diag_list *pctl_diag_list_create(void);
void pctl_diag_list_destroy(pctl_diag_list *l);
/* A call whose sink is this list (and whose cancel test is `cancelled(ctx)` unless NULL). Lives as
 * long as it. */
const pctl_call *pctl_diag_list_call(pctl_diag_list *l);
void pctl_diag_list_set_cancel(pctl_diag_list *l, uint32_t (*cancelled)(void *ctx), void *ctx);

/* What is in it, and all that is added from now on, becomes an entry of the log (NULL: no longer). */
struct pctl_log;
void pctl_diag_list_set_log(pctl_diag_list *l, struct pctl_log *log);

/* Add a copy of a record. Exact repeats are dropped. */
void pctl_diag_list_add(pctl_diag_list *l, const pctl_diag *d);
uint32_t pctl_diag_list_count(const pctl_diag_list *l);
const pctl_diag *pctl_diag_list_at(const pctl_diag_list *l, uint32_t i);
uint32_t pctl_diag_list_errors(const pctl_diag_list *l);

/* Text of a file for the carets, when it is not to be read from disk (kernels of op libraries, a
 * git revision). Copied. */
void pctl_diag_list_source(pctl_diag_list *l, const char *file, const char *text, size_t n);

/* The text form, as people read it, to `to`; colour when `colour` is non-zero. */
void pctl_diag_render_text(pctl_diag_list *l, FILE *to, int colour);
/* As an array of records into an open JSON document. */
void pctl_diag_render_json(const pctl_diag_list *l, pctl_json *j);

#endif
