/* Implementation of limits_record.h. */
#include "runtime/device/limits_record.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/file.h"
#include "runtime/device/profile_private.h"

static const pctl_record_kind record = {"limits", "limits kit", PCTL_LIMITS_KIT, 1u << 16};

static void add_record(pctl_str_buf *s, const pctl_limits_record *r, const char *device)
{
	char key[PCTL_CID_TEXT_SIZE];

	pctl_str_add(
		s, "// How large programs may be on one device and still be right. Made by "
		   "`pipectl device probe`, or by the first program that is large.\nlimits : {\n");
	pctl_str_addf(s, "  kit = \"%s\";\n  key = \"%s\";\n  device = ", PCTL_LIMITS_KIT,
		      pctl_cid_format(&r->key, key));
	pctl_profile_quote(s, device);
	pctl_str_addf(s,
		      ";\n  searched = \"%s\";\n  ms = \"%" PRIu64 "\";\n"
		      "  // 0: nothing went wrong up to the bounds.\n  most : {\n",
		      r->searched ? "yes" : "no", r->ms);
	for (uint32_t e = 0; e < PCTL_N_EXTENTS; e++)
		pctl_str_addf(s, "    %s = \"%" PRIu64 "%s\";\n", pctl_extent_key(e),
			      r->limits.most[e], r->slow >> e & 1 ? " slow" : "");
	pctl_str_add(s, "  };\n};\n");
}

pctl_status pctl_limits_write(pctl_limits_record *r, const char *device, const char *dir,
			      const pctl_signer *signer, const pctl_call *call)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;
	char key[PCTL_CID_TEXT_SIZE];
	pctl_status status;

	add_record(&s, r, device);
	status = pctl_signer_seal(signer, &s, call);
	if (status == PCTL_OK)
		status = pctl_file_make_dirs(dir, call);
	if (status != PCTL_OK)
		goto out;
	snprintf(r->path, sizeof(r->path), "%s/%s.limits.cfg", dir, pctl_cid_format(&r->key, key));
	snprintf(r->signer, sizeof(r->signer), "%s", pctl_signer_public(signer));
	status = pctl_file_write(r->path, s.data, s.n, 1, call);
out:
	pctl_str_drop(&s);
	return status;
}

/* "65536" or, where slow is asked for, "65536 slow"; 0: neither. */
static int read_most(const char *text, uint64_t *most, int *slow)
{
	const size_t n = text == NULL ? 0 : strspn(text, "0123456789");
	const int is_slow = n != 0 && strcmp(text + n, " slow") == 0;

	if (slow != NULL)
		*slow = is_slow;
	if (n == 0 || n > 19 || (text[n] != '\0' && (!is_slow || slow == NULL)))
		return 0;
	*most = strtoull(text, NULL, 10);
	return 1;
}

static int read_values(const pctl_conf_value *group, pctl_limits_record *out)
{
	const pctl_conf_value *most = pctl_profile_member(group, "most", PCTL_CONF_GROUP);
	const char *key = pctl_profile_string(group, "key");
	const char *searched = pctl_profile_string(group, "searched");

	if (most == NULL || most->n_items != PCTL_N_EXTENTS || key == NULL || searched == NULL ||
	    !read_most(pctl_profile_string(group, "ms"), &out->ms, NULL) ||
	    !pctl_cid_parse(key, &out->key))
		return 0;
	out->searched = strcmp(searched, "yes") == 0;
	for (uint32_t e = 0; e < PCTL_N_EXTENTS; e++) {
		int slow;

		if (!read_most(pctl_profile_string(most, pctl_extent_key(e)), &out->limits.most[e],
			       &slow))
			return 0;
		out->slow |= (uint32_t)slow << e;
	}
	return out->searched || strcmp(searched, "no") == 0;
}

pctl_status pctl_limits_read(const char *path, const pctl_call *call, pctl_limits_record *out)
{
	pctl_conf *conf = NULL;
	const pctl_conf_value *group = NULL;
	pctl_status status;

	memset(out, 0, sizeof(*out));
	status = pctl_record_read(path, &record, call, &conf, &group, out->signer);
	if (status == PCTL_OK && !read_values(group, out))
		status = pctl_refuse(call, PC4330_PROFILE, "%s: a limit is missing or is no number",
				     path);
	if (status == PCTL_OK)
		snprintf(out->path, sizeof(out->path), "%s", path);
	pctl_conf_destroy(conf);
	return status;
}

int pctl_limits_find(pctl_limits_record *r, const char *const *dirs, uint32_t n,
		     const char *const *trusted, uint32_t n_trusted, const pctl_call *call)
{
	pctl_limits_record *found = malloc(sizeof(*found));
	char key[PCTL_CID_TEXT_SIZE], path[4200];
	pctl_softened soft;
	const pctl_call *softer = pctl_profile_soften(&soft, call);
	int have = 0;

	for (uint32_t i = 0; found != NULL && i < n && !have; i++) {
		snprintf(path, sizeof(path), "%s/%s.limits.cfg", dirs[i],
			 pctl_cid_format(&r->key, key));
		have = pctl_file_exists(path) && pctl_limits_read(path, softer, found) == PCTL_OK &&
		       memcmp(&found->key, &r->key, sizeof(r->key)) == 0 &&
		       pctl_profile_is_trusted(found->signer, trusted, n_trusted);
	}
	if (have)
		*r = *found;
	free(found);
	return have;
}
