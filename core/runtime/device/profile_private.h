/* What the signed records about devices share in writing and reading. */
#ifndef PIPECTL_RUNTIME_DEVICE_PROFILE_PRIVATE_H
#define PIPECTL_RUNTIME_DEVICE_PROFILE_PRIVATE_H

#include "foundation/base/str.h"
#include "foundation/conf/schema.h"

/* A driver's text as a quoted string: control characters and bytes beyond ASCII become blanks. */
void pctl_profile_quote(pctl_str_buf *s, const char *text);
/* The member of a group (may be NULL) with this key and kind, or NULL. */
const pctl_conf_value *pctl_profile_member(const pctl_conf_value *group, const char *key,
					   uint32_t kind);
const char *pctl_profile_string(const pctl_conf_value *group, const char *key);

/* Records are groups of this name in a signed file: what they are, and which version is read. */
typedef struct pctl_record_kind {
	const char *group, *kit_name, *kit;
	uint64_t largest; /* file, in bytes */
} pctl_record_kind;

/*
 * The group of a record in *conf, which the caller destroys in every case, and who signed it.
 *
 * Errors: PC5012 (signature), PC4330 (another kit), those of reading a configuration.
 */
pctl_status pctl_record_read(const char *path, const pctl_record_kind *kind_of,
			     const pctl_call *call, pctl_conf **conf, const pctl_conf_value **group,
			     char signer[PCTL_PUBLIC_KEY_TEXT]);
int pctl_profile_is_trusted(const char *signer, const char *const *trusted, uint32_t n);

#endif
