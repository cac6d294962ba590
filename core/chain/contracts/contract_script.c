/* Scripts of calls: each line is taken apart, called and compared with what must come of it. */
#include "chain/contracts/contract_script.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/cas/cid.h"
#include "foundation/base/hex.h"

#define NAMES_MAX 64
#define WORD_MAX 64u
#define SHOWN 64u /* bytes that `get` logs */
#define RESULT_ROOM (PCTL_CONTRACT_RESULT_BYTES + PCTL_MESSAGE_ERROR_MAX)

typedef struct named_job {
	char name[WORD_MAX + 1];
	uint8_t id[PCTL_CONTRACT_ID_BYTES];
} named_job;

typedef struct script {
	pctl_contract_host *host;
	const pctl_call *call;
	const char *argument;
	named_job jobs[NAMES_MAX];
	uint32_t n_jobs, line;
	int is_over;
	uint8_t *data;
	size_t n_data;
} script;

static pctl_status bad_line(const script *s, const char *why)
{
	return pctl_refuse(s->call, PC6121_CONTRACT_MODULE, "line %" PRIu32 ": %s", s->line, why);
}

static pctl_status trap(const script *s, const char *why)
{
	return pctl_refuse(s->call, PC6122_CONTRACT_TRAP, "line %" PRIu32 ": %s", s->line, why);
}

static void say(const script *s, const char *text)
{
	s->host->log(s->host->ctx, (const uint8_t *)text, (uint32_t)strlen(text));
}

/* ---- words ---------------------------------------------------------------------------------- */

/* The next word of *at, which moves behind it; "" at the end. */
static char *word(char **at)
{
	char *w = *at + strspn(*at, " \t");
	char *end = w + strcspn(w, " \t");

	*at = *end == '\0' ? end : end + 1;
	*end = '\0';
	return w;
}

/* The hex digits of a word as the bytes of the script, 0 when it is none. */
static int take_hex(script *s, const char *text)
{
	const size_t n = strlen(text) / 2;
	uint8_t *bytes = realloc(s->data, n + 1);

	if (bytes == NULL)
		return 0;
	s->data = bytes;
	s->n_data = n;
	if (strlen(text) % 2 != 0)
		return 0;
	return pctl_hex_parse(text, n, bytes);
}

/* The id that a word stands for, NULL for none. */
static const uint8_t *job_named(const script *s, const char *name)
{
	if (strcmp(name, "$argument") == 0)
		name = s->argument;
	for (uint32_t i = 0; i < s->n_jobs; i++) {
		if (strcmp(s->jobs[i].name, name) == 0)
			return s->jobs[i].id;
	}
	return strlen(name) == PCTL_CONTRACT_ID_BYTES ? (const uint8_t *)name : NULL;
}

/* ---- the lines ------------------------------------------------------------------------------ */

static pctl_status do_submit(script *s, char *rest)
{
	const char *name = word(&rest);
	uint8_t out[PCTL_CONTRACT_SUBMIT_BYTES];
	int32_t result;
	char text[64];

	if (name[0] == '\0' || strlen(name) > WORD_MAX || s->n_jobs == NAMES_MAX)
		return bad_line(s, "no name for a job, or one too many");
	if (!take_hex(s, word(&rest)))
		return bad_line(s, "the message is no even number of hex digits");
	result = s->host->gpu_submit(s->host->ctx, s->data, (uint32_t)s->n_data, out);
	if (result < 0) {
		snprintf(text, sizeof(text), "gpu_submit returned %" PRId32, result);
		return trap(s, text);
	}
	strcpy(s->jobs[s->n_jobs].name, name);
	memcpy(s->jobs[s->n_jobs++].id, out, PCTL_CONTRACT_ID_BYTES);
	return PCTL_OK;
}

static pctl_status do_refused(script *s, char *rest)
{
	const long code = strtol(word(&rest), NULL, 10);
	uint8_t out[PCTL_CONTRACT_SUBMIT_BYTES];
	int32_t result;
	char text[64];

	if (!take_hex(s, word(&rest)))
		return bad_line(s, "the message is no even number of hex digits");
	result = s->host->gpu_submit(s->host->ctx, s->data, (uint32_t)s->n_data, out);
	snprintf(text, sizeof(text), "gpu_submit returned %" PRId32, result);
	return result == -(int32_t)code ? PCTL_OK : trap(s, text);
}

static uint64_t get_u64(const uint8_t *from)
{
	uint64_t v = 0;

	for (int i = 7; i >= 0; i--)
		v = v << 8 | from[i];
	return v;
}

/* What gpu_result writes, with its text as a string; the status, or minus a code. */
static int32_t result_of(script *s, const uint8_t *id, uint8_t out[RESULT_ROOM + 1])
{
	const int32_t status = s->host->gpu_result(s->host->ctx, id, out, RESULT_ROOM);

	if (status >= 0)
		out[PCTL_CONTRACT_RESULT_BYTES + (out[16] | (uint32_t)out[17] << 8)] = '\0';
	return status;
}

static pctl_status do_result(script *s, char *rest)
{
	static const char *const names[] = {"pending", "executing", "complete", "failed"};
	const uint8_t *id = job_named(s, word(&rest));
	const char *wanted = word(&rest);
	uint8_t out[RESULT_ROOM + 1];
	char text[RESULT_ROOM + 100];
	int32_t status;

	if (id == NULL)
		return bad_line(s, "no such job");
	status = result_of(s, id, out);
	if (status < 0 || status > 3) {
		snprintf(text, sizeof(text), "gpu_result returned %" PRId32, status);
		return trap(s, text);
	}
	snprintf(text, sizeof(text), "%s gas %" PRIu64 " clock %" PRIu64 " %s", names[status],
		 get_u64(out), get_u64(out + 8), (const char *)out + PCTL_CONTRACT_RESULT_BYTES);
	say(s, text);
	return strcmp(wanted, names[status]) == 0 ? PCTL_OK : trap(s, text);
}

static pctl_status do_get(script *s, char *rest)
{
	const char *name = word(&rest);
	const uint8_t *id = job_named(s, name);
	uint8_t out[RESULT_ROOM + 1], bytes[SHOWN];
	char text[2 * SHOWN + 40];
	int64_t size;
	size_t at;

	if (id != NULL) {
		if (result_of(s, id, out) != PCTL_JOB_COMPLETE)
			return trap(s, "the job has no output");
		name = (const char *)out + PCTL_CONTRACT_RESULT_BYTES;
	}
	size = s->host->cas_get(s->host->ctx, (const uint8_t *)name, (uint32_t)strlen(name), bytes,
				SHOWN);
	if (s->host->failure != PCTL_OK)
		return s->host->failure;
	at = (size_t)snprintf(text, sizeof(text), "cas_get %" PRId64 " ", size);
	if (size < 0)
		return trap(s, text);
	pctl_hex_print(bytes, size < SHOWN ? (size_t)size : SHOWN, text + at);
	say(s, text);
	return PCTL_OK;
}

static pctl_status do_log(script *s, char *rest)
{
	say(s, rest);
	return PCTL_OK;
}

static pctl_status do_return(script *s, char *rest)
{
	const long value = strtol(word(&rest), NULL, 10);

	s->is_over = 1;
	return value == 0 ? PCTL_OK
			  : pctl_refuse(s->call, PC6124_CONTRACT_REFUSED,
					"line %" PRIu32 ": returned %ld", s->line, value);
}

static pctl_status do_trap(script *s, char *rest)
{
	(void)rest;
	return trap(s, "trap");
}

static pctl_status run_line(script *s, char *line)
{
	static const struct {
		const char *name;
		pctl_status (*run)(script *s, char *rest);
	} lines[] = {{"submit", do_submit}, {"refused", do_refused}, {"result", do_result},
		     {"get", do_get},	    {"log", do_log},	     {"return", do_return},
		     {"trap", do_trap}};
	const char *name;

	if (line[0] == '#' || line[strspn(line, " \t")] == '\0')
		return PCTL_OK;
	name = word(&line);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		if (strcmp(name, lines[i].name) == 0)
			return lines[i].run(s, line);
	}
	return bad_line(s,
			"it begins with none of submit, refused, result, get, log, return, trap");
}

pctl_status pctl_contract_script(const char *text, size_t n, const char *argument,
				 pctl_contract_host *host, uint64_t fuel, const pctl_call *call,
				 uint64_t *used)
{
	script s = {.host = host, .call = call, .argument = argument == NULL ? "" : argument};
	char *copy = strndup(text, n), *at = copy;
	const uint64_t before = host->spent;
	pctl_status status = PCTL_OK;

	*used = 0;
	if (copy == NULL)
		return pctl_no_memory(call, "a script");
	if (strncmp(copy, PCTL_SCRIPT_MARK, strlen(PCTL_SCRIPT_MARK)) != 0)
		status = pctl_refuse(call, PC6121_CONTRACT_MODULE,
				     "the first line is not " PCTL_SCRIPT_MARK);
	while (status == PCTL_OK && !s.is_over && at != NULL) {
		char *line = strsep(&at, "\n");

		s.line++;
		status = run_line(&s, line);
		*used = host->spent - before;
		if (host->failure != PCTL_OK)
			status = host->failure;
		else if (status == PCTL_OK && *used > fuel)
			status = pctl_refuse(call, PC6123_CONTRACT_FUEL,
					     "line %" PRIu32 ": %" PRIu64 " used, %" PRIu64
					     " allowed",
					     s.line, *used, fuel);
	}
	if (*used > fuel)
		*used = fuel;
	free(s.data);
	free(copy);
	return status;
}
