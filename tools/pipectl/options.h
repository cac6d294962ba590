/* The option table: verbs, their options and arguments. Parsing, usage text, man pages and
 * completions all come from it. */
#ifndef PIPECTL_TOOLS_OPTIONS_H
#define PIPECTL_TOOLS_OPTIONS_H

#include "pipectl/host.h"

typedef struct pctl_app pctl_app;

/*
 * One option. value: what stands behind it in usage ("FILE"), NULL for a switch. many: may be given
 * several times. writes: its FILE, or what follows NAME=, is written and so looked at before the verb runs.
 */
typedef struct pctl_option {
	const char *name; /* "--set" */
	const char *value;
	const char *about;
	uint32_t many;
	uint32_t writes;
} pctl_option;

/*
 * A verb, or a verb with a sub-verb ("cas", "put"). Arguments: least to most (UINT32_MAX: any
 * number).
 */
typedef struct pctl_verb {
	const char *name;
	const char *sub;	    /* or NULL */
	const char *arguments;	    /* "FILE..." */
	const char *about;	    /* one line */
	const char *detail;	    /* paragraphs for help and the man page, or NULL */
	const pctl_option *options; /* ended by a NULL name, or NULL */
	uint32_t least, most;
	pctl_status (*run)(pctl_app *app);
	const char *example; /* one command line */
} pctl_verb;

extern const pctl_option pctl_global_options[];
const pctl_verb *pctl_verbs(uint32_t *n_out);

/* The exit statuses, as every usage and manual page lists them; ended by a NULL meaning. */
typedef struct pctl_exit_code {
	int status;
	const char *meaning;
} pctl_exit_code;
extern const pctl_exit_code pctl_exit_codes[];

/* What was given for one option, in order. */
typedef struct pctl_given {
	const pctl_option *option;
	const char *value;
} pctl_given;

/* A parsed command line. Strings are those of argv. group: the first half of verbs with a second one, when --help is asked
 * of all of them (verb is NULL then). */
typedef struct pctl_command_line {
	const pctl_verb *verb;
	const char *group;
	const char **arguments;
	pctl_given *given;
	uint32_t n_arguments, n_given;
} pctl_command_line;

/* Parse; every mistake is reported as PC0010 with the nearest name. Released with
 * pctl_command_line_clear. */
pctl_status pctl_command_line_parse(int argc, char **argv, const pctl_call *call,
				    pctl_command_line *out);
void pctl_command_line_clear(pctl_command_line *c);

/* The verb of that name and sub-verb, NULL: none; sub NULL: the one that is used without a sub-verb. */
const pctl_verb *pctl_verb_find(const char *name, const char *sub);
/* No such verb, or sub-verb: PC0010 with the nearest. */
pctl_status pctl_verb_unknown(const pctl_call *call, const char *name, const char *sub);
/* 1 when some verb of that name has a sub-verb. */
int pctl_verb_has_subs(const char *name);
/* The option of a list that n bytes name, NULL: none; options may be NULL. */
const pctl_option *pctl_option_find(const pctl_option *options, const char *name, size_t n);

/* The last value of an option, NULL when it was not given; has for switches; the i-th value of a
 * repeatable one. */
const char *pctl_option_value(const pctl_command_line *c, const char *name);
int pctl_option_has(const pctl_command_line *c, const char *name);
const char *pctl_option_at(const pctl_command_line *c, const char *name, uint32_t i);

#endif
