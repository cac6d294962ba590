/* Configuration as a tree with positions. libconfig defines the language and the values; a token
 * scanner of our own over the same bytes adds columns and refuses what libconfig would damage in
 * silence. This module knows syntax, kinds and ranges; what a key means is its reader's business,
 * who describes it with a schema (schema.h). */
#ifndef PIPECTL_FOUNDATION_CONF_CONF_H
#define PIPECTL_FOUNDATION_CONF_CONF_H

#include "foundation/base/vfs.h"
#include "pipectl/host.h"

#define PCTL_CONF_FILE_BYTES_MAX (4u << 20) /* of one file, and of all includes together */
#define PCTL_CONF_DEPTH_MAX 64u		    /* of groups, lists and arrays inside each other */
#define PCTL_CONF_INCLUDE_MAX 10u    /* of files that include each other; libconfig's own limit */
#define PCTL_CONF_INCLUDES_MAX 256u  /* of @include directives that are followed */
#define PCTL_CONF_PATH_MAX 4096u     /* bytes of an included path */
#define PCTL_CONF_MEMBERS_MAX 16384u /* of one group; libconfig compares each with all others */
#define PCTL_CONF_ERRORS_MAX 64u     /* reported of one text; the rest is counted */

enum {
	PCTL_CONF_GROUP = 1, /* { key = value; } */
	PCTL_CONF_LIST = 2,  /* ( anything, .. ) */
	PCTL_CONF_ARRAY = 3, /* [ scalars of one kind ] */
	PCTL_CONF_STRING = 4,
	PCTL_CONF_INT = 5, /* 32 bits, or 64 with the suffix L */
	PCTL_CONF_FLOAT = 6,
	PCTL_CONF_BOOL = 7
};

/*
 * One value. All memory belongs to the pctl_conf.
 *
 * key      NULL for the root and for elements of lists and arrays
 * key_pos  the key's name; for an element, its value
 * pos      the value: a scalar from its first to its last byte, of a composite the opening bracket
 * items    members or elements in the order of the file, n_items of them
 * text     STRING: the contents, never with a NUL inside; INT, FLOAT, BOOL: the literal; else NULL
 * integer  INT: the value; BOOL: 0 or 1
 */
typedef struct pctl_conf_value pctl_conf_value;
struct pctl_conf_value {
	uint32_t kind; /* PCTL_CONF_* */
	uint32_t n_items;
	const char *key;
	pctl_pos key_pos;
	pctl_pos pos;
	const pctl_conf_value *parent;
	pctl_conf_value *const *items;
	const char *text;
	int64_t integer;
	double number;	/* FLOAT, and INT converted */
	uint32_t index; /* place among the parent's items */
	uint32_t reserved;
};

typedef struct pctl_conf pctl_conf;

/*
 * Read a file, with what it includes. `@include "x"` looks relative to the directory of the file it
 * stands in. All errors are reported in one go; libconfig sees only what our scanner finds no fault
 * with.
 *
 * Errors: PCTL_E_IO (PC0003), PCTL_E_INVALID (PC10xx, at least one diagnostic); *out is NULL then.
 */
pctl_status pctl_conf_read_file(const char *path, const pctl_call *call, pctl_conf **out);

/* The same with the file and its includes read from a virtual file system; NULL: files. */
pctl_status pctl_conf_read_vfs(const pctl_vfs *vfs, const char *name, const pctl_call *call,
			       pctl_conf **out);

/* The same for n bytes that lie in memory. `name` stands in positions, and includes are relative to
 * its directory. */
pctl_status pctl_conf_read_text(const char *name, const char *text, size_t n, const pctl_call *call,
				pctl_conf **out);

void pctl_conf_destroy(pctl_conf *c);

/* The root: a group without key whose position is line 1 of the file. */
const pctl_conf_value *pctl_conf_root(const pctl_conf *c);

/* The texts that were read, the main file first: for pctl_diag_list_source, and to hash what was
 * run. */
uint32_t pctl_conf_source_count(const pctl_conf *c);
const char *pctl_conf_source_name(const pctl_conf *c, uint32_t i);
const char *pctl_conf_source_text(const pctl_conf *c, uint32_t i, size_t *n_out);

/* Member of a group by key, or NULL; also NULL when v is NULL or no group. */
const pctl_conf_value *pctl_conf_get(const pctl_conf_value *v, const char *key);
/* The same along a dotted path of keys: "pipeline.jobs". */
const pctl_conf_value *pctl_conf_find(const pctl_conf_value *v, const char *path);

/* Where a value stands, as "pipeline.jobs[1].op", cut to fit n bytes with NUL. Returns buf. */
char *pctl_conf_path(const pctl_conf_value *v, char *buf, size_t n);
/* "a group", "a string", ..: the kind in words. Never NULL. */
const char *pctl_conf_kind_name(uint32_t kind);

/*
 * Typed reading of one value. Each refuses a wrong kind (PC1022), a malformed quantity (PC1025),
 * one outside min .. max (PC1024), a word that is not allowed (PC1023), at the value's position,
 * naming its path. *out is zeroed on entry. The value must not be NULL.
 *
 * u64, i64  an integer literal, or a quoted string of digits with '_' between them or 0x hex
 * bytes     the same, or a quoted size such as "4GiB" or "512K" (powers of 1024)
 * duration  milliseconds: an integer is milliseconds, a quoted string carries ms, s, min or h
 * double    a float or an integer literal
 * choice    a string that is one of n words; its index
 * name      a string of the form [A-Za-z_][A-Za-z0-9_.-]*, at most 128 bytes
 */
pctl_status pctl_conf_as_string(const pctl_conf_value *v, const pctl_call *call, const char **out);
pctl_status pctl_conf_as_name(const pctl_conf_value *v, const pctl_call *call, const char **out);
pctl_status pctl_conf_as_bool(const pctl_conf_value *v, const pctl_call *call, int *out);
pctl_status pctl_conf_as_u64(const pctl_conf_value *v, uint64_t min, uint64_t max,
			     const pctl_call *call, uint64_t *out);
pctl_status pctl_conf_as_i64(const pctl_conf_value *v, int64_t min, int64_t max,
			     const pctl_call *call, int64_t *out);
pctl_status pctl_conf_as_bytes(const pctl_conf_value *v, uint64_t min, uint64_t max,
			       const pctl_call *call, uint64_t *out);
pctl_status pctl_conf_as_duration(const pctl_conf_value *v, uint64_t min, uint64_t max,
				  const pctl_call *call, uint64_t *out);
pctl_status pctl_conf_as_double(const pctl_conf_value *v, const pctl_call *call, double *out);
pctl_status pctl_conf_as_choice(const pctl_conf_value *v, const char *const *words, uint32_t n,
				const pctl_call *call, uint32_t *out);

/* Members of a group that a schema has accepted: the value, or `fallback` when the key is absent
 * (or has another kind, which the schema excludes). No diagnostics. u64 also reads quoted
 * quantities and sizes. */
const char *pctl_conf_string_or(const pctl_conf_value *group, const char *key,
				const char *fallback);
uint64_t pctl_conf_u64_or(const pctl_conf_value *group, const char *key, uint64_t fallback);
uint64_t pctl_conf_bytes_or(const pctl_conf_value *group, const char *key, uint64_t fallback);
double pctl_conf_double_or(const pctl_conf_value *group, const char *key, double fallback);
int pctl_conf_bool_or(const pctl_conf_value *group, const char *key, int fallback);

/* A path as seen from the directory of the file that names it; released with free(), NULL: no
 * memory. */
char *pctl_conf_beside(const char *file, const char *path);

/* The hint for an unknown name: `did you mean "x"? available: a, b, x`, or only the second half. At
 * most 24 names are listed. Released with free(); NULL for lack of memory or when n is 0. */
char *pctl_conf_hint_names(const char *word, const char *const *names, uint32_t n);

#endif
