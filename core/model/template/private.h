/* What the families (families.c) and the sink of what they say (template.c) share. */
#ifndef PIPECTL_MODEL_TEMPLATE_PRIVATE_H
#define PIPECTL_MODEL_TEMPLATE_PRIVATE_H

#include "model/template/template.h"

/* Where a rendered conversation goes: to ids, when there is a tokenizer, or to text. */
typedef struct template_sink {
	const pctl_template *t;
	const pctl_message *messages;
	uint32_t n, flags;
	const pctl_tokenizer *tokenizer;
	const pctl_call *call;
	pctl_token_ids *ids;
	pctl_str_buf text; /* since the last special token; without a tokenizer, all */
	int begun;	   /* a token was put */
	int strips;	   /* and white space behind it goes with it */
	pctl_status status;
} template_sink;

/* Text, and a special token by its name. After an error they do nothing. */
void template_say(template_sink *s, const char *text);
void template_put(template_sink *s, pctl_token_text text);
void template_mark(template_sink *s, const char *special);

typedef enum template_system {
	SYSTEM_ANYWHERE, /* a role as others */
	SYSTEM_FIRST,	 /* the first message, if any */
	SYSTEM_NEVER
} template_system;

struct pctl_template {
	const char *name;
	/* Marks in a model's template: all of `has`, none of `without`; NULL behind the last. */
	const char *has[3], *without[3];
	template_system system;
	int turns;	       /* user and assistant alternate, user first */
	int thinking;	       /* there is a switch for it */
	uint32_t encode_flags; /* for what messages hold */
	void (*render)(template_sink *s);
};

extern const pctl_template template_families[];
extern const uint32_t template_n_families;

#endif
