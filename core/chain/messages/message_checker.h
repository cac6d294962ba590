/* What the checks of requests and of responses share: one status and one report for every value that is wrong, with the field's name. Private to message_check*.c. */
#ifndef PIPECTL_CHAIN_MESSAGES_MESSAGE_CHECKER_H
#define PIPECTL_CHAIN_MESSAGES_MESSAGE_CHECKER_H

#include "chain/messages/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "foundation/base/hex.h"
#include "foundation/base/utf8.h"

/* The first status is kept; all are reported. */
typedef struct checker {
	const pctl_call *call;
	const char *message; /* its name in reports */
	pctl_status status;
	uint32_t reserved;
} checker;

static inline void wrong(checker *c, uint32_t code, const char *field, const char *fmt, ...)
	PCTL_PRINTF(4, 5);

static inline void wrong(checker *c, uint32_t code, const char *field, const char *fmt, ...)
{
	char text[400];
	pctl_status status;
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	status = pctl_refuse(c->call, code, "%s.%s: %s", c->message, field, text);
	if (c->status == PCTL_OK)
		c->status = status;
}

/* ---- values ------------------------------------------------------------------------------- */

#define SHOWN 84u

/* The beginning of a value, fit to be shown. */
static const char *shown(const char *s, char buf[SHOWN])
{
	size_t n = strnlen(s, SHOWN);

	for (size_t i = 0; i < SHOWN - 4 && i < n; i++)
		buf[i] = (char)(s[i] >= 0x20 && s[i] < 0x7f ? s[i] : '?');
	if (n > SHOWN - 4)
		memcpy(buf + SHOWN - 4, "...", 4);
	else
		buf[n] = '\0';
	return buf;
}

static inline int missing(checker *c, const char *field, const char *s)
{
	if (s[0] == '\0')
		wrong(c, PC5784_MESSAGE_MISSING, field, "not given");
	return s[0] == '\0';
}

/* The name of an account or of an alias. */
static inline void check_plain_name(checker *c, uint32_t code, const char *field, const char *s)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789._-";
	char buf[SHOWN];

	if (missing(c, field, s))
		return;
	if (strspn(s, allowed) != strlen(s) || strlen(s) > 64)
		wrong(c, code, field, "\"%s\" is not 1 to 64 of [a-z0-9._-]", shown(s, buf));
}

static inline void check_account(checker *c, const char *field, const char *s)
{
	check_plain_name(c, PC5785_MESSAGE_SENDER, field, s);
}

static inline void check_sender(checker *c, const char *s)
{
	check_account(c, "sender", s);
}

static inline void check_hash(checker *c, const char *field, const char *s)
{
	char buf[SHOWN];

	if (!missing(c, field, s) && !pctl_hex_is(s, 64))
		wrong(c, PC5787_MESSAGE_HASH, field, "\"%s\" is not 64 lower-case hex digits",
		      shown(s, buf));
}

static inline void check_cid(checker *c, const char *field, const char *s)
{
	char buf[SHOWN];
	pctl_cid cid;

	if (!missing(c, field, s) && !pctl_cid_parse(s, &cid))
		wrong(c, PC5786_MESSAGE_CID, field, "\"%s\" is no CID of this system",
		      shown(s, buf));
}

/* A CID or the output of a job. */
static inline void check_source(checker *c, const char *field, const char *s)
{
	if (strncmp(s, "job:", 4) == 0)
		check_hash(c, field, s + 4);
	else
		check_cid(c, field, s);
}

static inline void check_count(checker *c, const char *field, uint64_t n, uint64_t most,
			       const char *of)
{
	if (n > most)
		wrong(c, PC5789_MESSAGE_COUNT, field, "%llu %s, at most %llu",
		      (unsigned long long)n, of, (unsigned long long)most);
}

static inline void check_text(checker *c, const char *field, const char *s, size_t most)
{
	const size_t n = strlen(s), bad = pctl_utf8_bad(s, n, PCTL_UTF8_PLAIN);

	check_count(c, field, n, most, "bytes");
	if (bad != n)
		wrong(c, PC5788_MESSAGE_TEXT, field,
		      "byte %zu (0x%02x) is not UTF-8 or begins a control character", bad,
		      (unsigned char)s[bad]);
}

static inline void check_number(checker *c, const char *field, uint64_t v, uint64_t most)
{
	if (v > most)
		wrong(c, PC5793_MESSAGE_NUMBER, field, "%llu, at most %llu", (unsigned long long)v,
		      (unsigned long long)most);
}

static inline void not_ascending(checker *c, const char *field, int is_same)
{
	wrong(c, PC5792_MESSAGE_ORDER, field, "%s",
	      is_same ? "stands twice" : "comes after a greater one, but the list must be sorted");
}

/* "tags[3]" and the like. */
#define FIELD 40u
static const char *element(const char *list, uint32_t i, char buf[FIELD])
{
	snprintf(buf, FIELD, "%s[%u]", list, (unsigned)i);
	return buf;
}

static inline void check_jobs(checker *c, const char *list, const char *const *jobs, uint32_t n,
			      int is_sorted, uint32_t most)
{
	char field[FIELD];

	check_count(c, list, n, most, "jobs");
	for (uint32_t i = 0; i < n && i < most; i++) {
		element(list, i, field);
		check_hash(c, field, jobs[i]);
		if (is_sorted && i > 0 && strcmp(jobs[i - 1], jobs[i]) >= 0)
			not_ascending(c, field, strcmp(jobs[i - 1], jobs[i]) == 0);
	}
}

static inline void not_of_op(checker *c, const char *field, int is_given)
{
	if (is_given)
		wrong(c, PC5730_MESSAGE_OPERATION, field,
		      "the field is given, but the operation does not use it");
}

static inline void check_envelope(checker *c, uint32_t kind, const char *what)
{
	c->message = what;
	wrong(c, PC5796_MESSAGE_ENVELOPE, "kind",
	      "%u is not a kind of message that this envelope may hold", kind);
}

#endif
