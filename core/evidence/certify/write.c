/* Certificates as text, in the one form that a reader accepts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/clock.h"
#include "foundation/base/file.h"
#include "evidence/certify/certificate.h"
#include "foundation/conf/conf.h"

pctl_status pctl_certificate_text(const pctl_certificate *c, pctl_str_buf *out,
				  const pctl_call *call)
{
	const pctl_status status =
		pctl_record_put(&pctl_certificate_type, c, out, "a certificate", call);

	if (status != PCTL_OK)
		return status;
	if (out->n >= PCTL_CONF_FILE_BYTES_MAX)
		return pctl_refuse(call, PC5508_TOO_LONG,
				   "the certificate would have %zu bytes, at most %u are read",
				   out->n, PCTL_CONF_FILE_BYTES_MAX);
	return PCTL_OK;
}

pctl_status pctl_certificate_write(pctl_certificate *c, const char *path, const pctl_signer *signer,
				   const pctl_call *call)
{
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	char date[PCTL_CLOCK_DATE];
	pctl_status status;

	pctl_clock_date(date);
	c->made = pctl_arena_dup(c->arena, date);
	c->path = pctl_arena_dup(c->arena, path);
	status = c->made == NULL || c->path == NULL ? pctl_no_memory(call, "a certificate")
						    : pctl_certificate_text(c, &text, call);
	if (status == PCTL_OK)
		status = pctl_signer_seal(signer, &text, call);
	if (status == PCTL_OK)
		status = pctl_file_write(path, text.data, text.n, 1, call);
	if (status == PCTL_OK)
		snprintf(c->signer, sizeof(c->signer), "%s", pctl_signer_public(signer));
	pctl_str_drop(&text);
	return status;
}
