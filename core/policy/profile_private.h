/* What the signed records about devices share in writing and reading. */
#ifndef PIPECTL_POLICY_PROFILE_PRIVATE_H
#define PIPECTL_POLICY_PROFILE_PRIVATE_H

#include "base/str.h"
#include "conf/schema.h"

/* A driver's text as a quoted string: control characters and bytes beyond ASCII become blanks. */
void pctl_profile_quote(pctl_str_buf *s, const char *text);
/* The member of a group (may be NULL) with this key and kind, or NULL. */
const pctl_conf_value *pctl_profile_member(const pctl_conf_value *group, const char *key,
					   uint32_t kind);
const char *pctl_profile_string(const pctl_conf_value *group, const char *key);
int pctl_profile_is_trusted(const char *signer, const char *const *trusted, uint32_t n);

#endif
