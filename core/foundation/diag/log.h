/* The log of a process: what happened when, a line each, for whoever looks afterwards. It is no answer and no diagnostic: what
 * a user must know is told by those, and stands here too. Written line by line to the end of a file, or to a descriptor. */
#ifndef PIPECTL_FOUNDATION_DIAG_LOG_H
#define PIPECTL_FOUNDATION_DIAG_LOG_H

#include "pipectl/host.h"

enum { PCTL_LOG_ERROR = 0, PCTL_LOG_WARNING, PCTL_LOG_INFO, PCTL_LOG_DEBUG };
enum { PCTL_LOG_TEXT = 0, PCTL_LOG_JSON };
/* The words of both, ended by NULL; and the place of a word, -1: none of them. */
extern const char *const pctl_log_levels[];
extern const char *const pctl_log_formats[];
int pctl_log_word(const char *const *words, const char *text);

typedef struct pctl_log pctl_log;

/* Something that is said of an entry; value NULL: it is left out. */
typedef struct pctl_log_field {
	const char *key, *value;
} pctl_log_field;

/*
 * path    a file, made when it is not there and added to; "-": standard error
 * level   the most detailed that is written
 * before  told before each line to standard error (a line of progress goes away first); may be NULL
 */
typedef struct pctl_log_options {
	const char *path;
	uint32_t level, format;
	void (*before)(void *ctx);
	void *ctx;
} pctl_log_options;

/* PC0003 where the file cannot be opened. */
pctl_status pctl_log_open(const pctl_log_options *o, const pctl_call *call, pctl_log **out);
/* From now on so. */
void pctl_log_set(pctl_log *l, uint32_t level, uint32_t format);
/* Closes it. A line that could not be written is told then, once, as a warning (PC0023). NULL is fine. */
void pctl_log_close(pctl_log *l, const pctl_call *call);

/*
 * Write an entry. component says who: "pipectl", "node", or the id of a plugin. log NULL: nothing happens, so that nobody needs
 * to ask. One line whatever is in the texts:
 *
 *     2026-11-23T02:03:04.567Z warning opencl: device lost code=PC3103 seconds=2
 *     {"time":"..","level":"warning","component":"opencl","message":"device lost","fields":{"code":"PC3103","seconds":"2"}}
 */
void pctl_log_write(pctl_log *l, uint32_t level, const char *component, const char *message,
		    const pctl_log_field *fields, uint32_t n);
/* A diagnostic as an entry: of its plugin, else of "pipectl"; fields code, name, at. */
void pctl_log_diag(pctl_log *l, const pctl_diag *d);

#endif
