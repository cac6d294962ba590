/* A schema describes a group by a table: which keys it may have, of what kind, range and default,
 * and what each is for. Checking reports every deviation at once; the same tables print the
 * documentation of a file. */
#ifndef PIPECTL_FOUNDATION_CONF_SCHEMA_H
#define PIPECTL_FOUNDATION_CONF_SCHEMA_H

#include "foundation/conf/conf.h"

enum {
	PCTL_FIELD_STRING = 1,
	PCTL_FIELD_NAME, /* pctl_conf_as_name */
	PCTL_FIELD_BOOL,
	PCTL_FIELD_U64, /* in min .. max; max 0 means no upper limit */
	PCTL_FIELD_I64, /* min and max hold int64_t bits; both 0 means no limits */
	PCTL_FIELD_BYTES,
	PCTL_FIELD_DURATION, /* milliseconds */
	PCTL_FIELD_FLOAT,
	PCTL_FIELD_CHOICE, /* one of `words` */
	PCTL_FIELD_SCALAR, /* any string, integer, float or bool */
	PCTL_FIELD_GROUP,  /* described by `group` */
	PCTL_FIELD_MAP,	 /* a group with keys of the user's choice, each value as `element` says */
	PCTL_FIELD_LIST, /* ( .. ) or [ .. ] whose elements are as `element` says; min .. max
			    elements */
	PCTL_FIELD_ANY	 /* left to the reader */
};

#define PCTL_FIELD_REQUIRED 1u

typedef struct pctl_conf_schema pctl_conf_schema;
typedef struct pctl_conf_field pctl_conf_field;

/*
 * One key. Initialise by name; what a kind does not use stays zero.
 *
 * words         CHOICE: NULL-terminated
 * default_text  what listings show when no layer has the key; NULL: ""
 * doc           one line
 * check         a further test of the value (or NULL), run when the kind was right
 */
struct pctl_conf_field {
	const char *key;
	uint32_t kind; /* PCTL_FIELD_* */
	uint32_t flags;
	uint64_t min, max;
	const char *const *words;
	const pctl_conf_schema *group;
	const pctl_conf_field *element;
	const char *default_text;
	const char *doc;
	pctl_status (*check)(const pctl_conf_value *v, const pctl_call *call);
};

struct pctl_conf_schema {
	const char *what; /* in messages: "a job", "the policy" */
	const pctl_conf_field *fields;
	uint32_t n_fields;
	uint32_t reserved;
};

#define PCTL_CONF_SCHEMA(what, fields)                                                \
	{                                                                             \
		(what), (fields), (uint32_t)(sizeof(fields) / sizeof((fields)[0])), 0 \
	}

/* Compare a group with its schema: unknown keys (PC1020, with the nearest and the list), missing
 * ones (PC1021), wrong kinds and values, at every depth. PCTL_OK, or the status of the first error
 * after all were reported. */
pctl_status pctl_conf_check(const pctl_conf_value *group, const pctl_conf_schema *schema,
			    const pctl_call *call);

/*
 * What is in force for every scalar and list key of a schema, in the order of the table, groups
 * opened into dotted names ("limits.memory"). Layers are groups, the strongest first (NULL ones are
 * skipped): the first layer that has the key gives the value, else the default does. Use: listings
 * of `doctor` and `plan`, and reading with an origin.
 */
#define PCTL_CONF_BUILT_IN \
	"built in" /* a layer read as text of this name is shown without a line */
#define PCTL_CONF_LAYERS_MAX 16u
typedef struct pctl_conf_setting {
	const char *key;
	const char *value;  /* as text; lists with ", "; "" when nothing is set */
	const char *origin; /* "file:line" or "built in" */
	const pctl_conf_field *field;
	const pctl_conf_value *from; /* NULL: built in */
} pctl_conf_setting;

typedef struct pctl_conf_settings pctl_conf_settings;
pctl_status pctl_conf_settings_create(const pctl_conf_schema *schema,
				      const pctl_conf_value *const *layers, uint32_t n_layers,
				      const pctl_call *call, pctl_conf_settings **out);
void pctl_conf_settings_destroy(pctl_conf_settings *s);
uint32_t pctl_conf_settings_count(const pctl_conf_settings *s);
const pctl_conf_setting *pctl_conf_settings_at(const pctl_conf_settings *s, uint32_t i);
/* By dotted key; NULL when the schema has no such key. */
const pctl_conf_setting *pctl_conf_settings_get(const pctl_conf_settings *s, const char *key);

#endif
