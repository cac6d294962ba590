/* Implementation of profile_private.h. */
#include "runtime/device/profile_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/file.h"
#include "runtime/device/profile.h"

#define PATH_SIZE 4096u

static char *member(void *record, size_t at)
{
	return (char *)record + at;
}

pctl_status pctl_device_record_write(const pctl_device_record *kind, void *record, const char *dir,
				     const pctl_signer *signer, const pctl_call *call)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;
	char key[PCTL_CID_TEXT_SIZE], *path = member(record, kind->path);
	pctl_status status;

	pctl_record_text(kind->type, record, &s);
	status = pctl_signer_seal(signer, &s, call);
	if (status == PCTL_OK)
		status = pctl_file_make_dirs(dir, call);
	if (status == PCTL_OK) {
		snprintf(path, PATH_SIZE, "%s/%s%s", dir,
			 pctl_cid_format((pctl_cid *)(void *)member(record, kind->key), key),
			 kind->ends);
		memcpy(member(record, kind->signer), pctl_signer_public(signer),
		       PCTL_PUBLIC_KEY_TEXT);
		status = pctl_file_write(path, s.data, s.n, 1, call);
	}
	pctl_str_drop(&s);
	return status;
}

pctl_status pctl_device_record_read(const pctl_device_record *kind, const char *path,
				    const pctl_call *call, void *record)
{
	pctl_arena *arena = pctl_arena_create(); /* no member of these records lies in it */
	char *text = NULL;
	size_t n_signed = 0;
	uint64_t n = 0;
	pctl_status status = arena == NULL ? pctl_no_memory(call, "a record")
					   : pctl_file_read(path, kind->largest, call, &text, &n);

	memset(record, 0, kind->size);
	if (status == PCTL_OK)
		status = pctl_sealed_check(path, text, n, call, &n_signed,
					   member(record, kind->signer));
	if (status == PCTL_OK)
		status = pctl_record_read(kind->type, path, text, n_signed, arena, call, record);
	if (status == PCTL_OK && kind->type->contradicts != 0)
		status = pctl_record_check(kind->type, path, text, n_signed, call, record);
	if (status == PCTL_OK)
		snprintf(member(record, kind->path), PATH_SIZE, "%s", path);
	free(text);
	pctl_arena_destroy(arena);
	return status;
}

static int is_trusted(const char *signer, const char *const *trusted, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (strcmp(signer, trusted[i]) == 0)
			return 1;
	return 0;
}

static void softly(void *ctx, const pctl_diag *d)
{
	const pctl_softened *s = ctx;
	pctl_diag said = *d;

	if (said.severity == PCTL_SEVERITY_ERROR)
		said.severity = PCTL_SEVERITY_WARNING;
	said.hint = s->instead == NULL ? "the device is probed again" : s->instead;
	s->outer->diag(s->outer->ctx, &said);
}

const pctl_call *pctl_profile_soften(pctl_softened *s, const pctl_call *call)
{
	memset(s, 0, sizeof(*s));
	s->inner.head = (pctl_head)PCTL_HEAD(pctl_call);
	s->inner.ctx = s;
	s->inner.diag = call != NULL && call->diag != NULL ? softly : NULL;
	s->outer = call;
	return &s->inner;
}

int pctl_device_record_find(const pctl_device_record *kind, void *record, const char *const *dirs,
			    uint32_t n, const char *const *trusted, uint32_t n_trusted,
			    const pctl_call *call)
{
	void *found = malloc(kind->size);
	char key[PCTL_CID_TEXT_SIZE], path[4200];
	pctl_softened soft;
	const pctl_call *softer = pctl_profile_soften(&soft, call);
	int have = 0;

	soft.instead = kind->instead;

	pctl_cid_format((pctl_cid *)(void *)member(record, kind->key), key);
	for (uint32_t i = 0; found != NULL && i < n && !have; i++) {
		snprintf(path, sizeof(path), "%s/%s%s", dirs[i], key, kind->ends);
		have = pctl_file_exists(path) &&
		       pctl_device_record_read(kind, path, softer, found) == PCTL_OK &&
		       memcmp(member(found, kind->key), member(record, kind->key),
			      sizeof(pctl_cid)) == 0 &&
		       is_trusted(member(found, kind->signer), trusted, n_trusted);
	}
	if (have)
		memcpy(record, found, kind->size);
	free(found);
	return have;
}
