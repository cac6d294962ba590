/* What a session runs on that it did not when its device was opened, and what follows for its profile. */
#include <stdlib.h>
#include <string.h>

#include "runtime/exec/session_private.h"

/* The n bytes at `line` are one of the lines of text. */
static int has_line(const char *text, const char *line, size_t n)
{
	for (const char *at = text; *at != '\0'; at += strcspn(at, "\n") + 1)
		if (strncmp(at, line, n) == 0)
			return 1;
	return 0;
}

static const char *text_of(const pctl_str_buf *s)
{
	return s->data == NULL ? "" : s->data;
}

const char *pctl_session_late(const pctl_session *s)
{
	return text_of(&s->late);
}

/* s->late from what is mapped now. A library that was seen once stays: it may have gone when its work was done. */
static pctl_status look_again(pctl_session *s, const pctl_call *call)
{
	char files[PCTL_SESSION_FILES_TEXT], drivers[PCTL_SESSION_FILES_TEXT];
	pctl_str_buf now = PCTL_STR_BUF_INIT;
	pctl_status status = pctl_backend_instance_files(s->o.backend, call, files, drivers, &now);

	for (const char *at = text_of(&now); status == PCTL_OK && *at != '\0';) {
		const size_t n = strcspn(at, "\n") + 1;

		if (!has_line(text_of(&s->libraries), at, n) && !has_line(text_of(&s->late), at, n))
			pctl_str_add_n(&s->late, at, n);
		at += n;
	}
	if (status == PCTL_OK && (now.failed || s->late.failed))
		status = pctl_no_memory(call, "a list of files");
	pctl_str_drop(&now);
	return status;
}

/* What the files of when it was opened are with those that came late. */
static pctl_status with_late(const pctl_session *s, const char *files, const pctl_call *call,
			     char out[PCTL_SESSION_FILES_TEXT])
{
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	pctl_cid cid;
	pctl_status status;

	pctl_str_addf(&text, "files %s\n%s", files, pctl_session_late(s));
	status = text.failed ? pctl_no_memory(call, "a list of files")
			     : pctl_cid_of(text.data, text.n, call, &cid);
	if (status == PCTL_OK)
		pctl_digest_hex(cid.digest, out);
	pctl_str_drop(&text);
	return status;
}

static pctl_status rename_files(pctl_session *s, const pctl_call *call)
{
	const pctl_status status = with_late(s, s->files, call, s->files_now);

	return status == PCTL_OK ? with_late(s, s->drivers, call, s->drivers_now) : status;
}

pctl_status pctl_session_settle(pctl_session *s, const pctl_call *call)
{
	const size_t before = s->late.n;
	const pctl_profile_record *again;
	pctl_profile_record *used = s->profile;
	pctl_status status;

	if (s->o.backend == NULL || s->o.device_kind == PCTL_DEVICE_REFERENCE)
		return PCTL_OK;
	status = look_again(s, call);
	if (status != PCTL_OK || s->late.n == before)
		return status;
	status = rename_files(s, call);
	if (status != PCTL_OK || used == NULL || pctl_backend_instance_lost(s->o.backend) != NULL)
		return status;
	s->profile = NULL;
	status = pctl_session_profile(s, call, &again);
	if (status == PCTL_OK &&
	    memcmp(&again->profile, &used->profile, sizeof(used->profile)) != 0)
		status = pctl_refuse(call, PC5225_LATE_LIBRARY,
				     "%s: the driver mapped %.*s after the device was opened, and "
				     "with it the device has another profile of floats than the "
				     "one that its kernels were built for",
				     s->name, (int)strcspn(s->late.data + before, "\t"),
				     s->late.data + before);
	if (s->profile == NULL)
		s->profile = used;
	else
		free(used);
	return status;
}
