/* Reading certificates: the text by its table (certificate_record.c), everything derived is made again, and the text that comes
 * of it must be the one that was read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/file.h"
#include "evidence/certify/certificate.h"
#include "foundation/conf/conf.h"

/* ---- contradictions ----------------------------------------------------------------------- */

static pctl_status contradicts(const pctl_certificate *c, const char *what, const pctl_call *call)
{
	return pctl_refuse(call, PC5506_CONTRADICTION, "%s: %s", c->path, what);
}

static pctl_status check_units(const pctl_certificate *c, const pctl_call *call)
{
	for (uint32_t i = 0; i < c->n_units; i++) {
		const pctl_certificate_unit *u = &c->units[i];
		const int measured = (u->flags & PCTL_UNIT_MEASURED) != 0;
		char what[400];

		if (u->track == c->params.track && u->level >= 1 && u->level <= c->params.level &&
		    u->failures <= u->cases && u->not_run <= u->n_blocks && u->n_blocks != 0 &&
		    u->failed == (u->failures != 0) && (u->cause[0] != '\0') == (u->not_run != 0) &&
		    (measured ? u->n_strips == 0
			      : u->strip != 0 && u->n_strips == (u->n_blocks - 1) / u->strip + 1))
			continue;
		snprintf(what, sizeof(what),
			 "the numbers of unit %u, \"%.100s\" %s \"%.100s\" do not fit", i + 1,
			 u->subject, pctl_unit_kind_name(u->kind), u->name);
		return contradicts(c, what, call);
	}
	return PCTL_OK;
}

static pctl_status check_plan(const pctl_certificate *c, const pctl_call *call)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;
	pctl_cid cid;
	pctl_status status = pctl_certificate_units_text(c, &s, call);

	if (status == PCTL_OK)
		status = pctl_cid_of(s.data == NULL ? "" : s.data, s.n, call, &cid);
	if (status == PCTL_OK && memcmp(cid.digest, c->plan, sizeof(c->plan)) != 0)
		status = contradicts(c, "its units are not those of the digest `plan`", call);
	pctl_str_drop(&s);
	return status;
}

static pctl_status check(pctl_certificate *c, const char *text, size_t n, const pctl_call *call)
{
	uint8_t digest[PCTL_DIGEST_BYTES];
	pctl_status status;

	if (c->params.ops[0] == '\0')
		c->params.ops = NULL;
	if (c->confirmed.of[0] != '\0' && !pctl_digest_parse_hex(c->confirmed.of, digest))
		return pctl_refuse(call, PC5505_CERTIFICATE,
				   "%s: `confirmed.of` is \"%.80s\", no SHA-256", c->path,
				   c->confirmed.of);
	status = check_units(c, call);
	if (status == PCTL_OK)
		status = check_plan(c, call);
	if (status == PCTL_OK)
		status = pctl_certificate_finish(c, call);
	return status == PCTL_OK
		       ? pctl_record_check(&pctl_certificate_type, c->path, text, n, call, c)
		       : status;
}

pctl_status pctl_certificate_read(const char *path, const pctl_call *call, pctl_certificate **out)
{
	pctl_certificate *c = NULL;
	size_t n_signed = 0;
	char *text = NULL;
	uint64_t n = 0;
	pctl_status status = pctl_certificate_create(call, &c);

	*out = NULL;
	if (status == PCTL_OK)
		status = pctl_file_read(path, PCTL_CONF_FILE_BYTES_MAX + 1024u, call, &text, &n);
	if (status == PCTL_OK) {
		c->path = pctl_arena_dup(c->arena, path);
		status = c->path == NULL
				 ? pctl_no_memory(call, "a certificate")
				 : pctl_sealed_check(path, text, n, call, &n_signed, c->signer);
	}
	if (status == PCTL_OK)
		status = pctl_record_read(&pctl_certificate_type, path, text, n_signed, c->arena,
					  call, c);
	if (status == PCTL_OK)
		status = check(c, text, n_signed, call);
	free(text);
	if (status == PCTL_OK)
		*out = c;
	else
		pctl_certificate_destroy(c);
	return status;
}
