/* The log: one line an entry whatever the texts are, levels, JSON; and what a process writes to its standard error. */
#include "main.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "foundation/diag/diag.h"
#include "foundation/diag/log.h"
#include "runtime/ipc/process.h"

typedef struct kept {
	char path[64], text[8192];
	pctl_diag_list *said;
	pctl_log *log;
} kept;

static void begin(kept *b, uint32_t level, uint32_t format)
{
	pctl_log_options o = {.path = b->path, .level = level, .format = format};
	int fd;

	snprintf(b->path, sizeof(b->path), "/tmp/pipectl-log-XXXXXX");
	fd = mkstemp(b->path);
	assert_true(fd >= 0);
	close(fd);
	b->said = pctl_diag_list_create();
	assert_int_equal(pctl_log_open(&o, pctl_diag_list_call(b->said), &b->log), PCTL_OK);
}

/* What was written, without the time before each line. */
static const char *end(kept *b)
{
	FILE *f = fopen(b->path, "re");
	char line[4096];

	assert_non_null(f);
	b->text[0] = '\0';
	while (fgets(line, sizeof(line), f) != NULL) {
		assert_true(strlen(line) > 25);
		strncat(b->text, line[0] == '{' ? line + 35 : line + 25,
			sizeof(b->text) - strlen(b->text) - 1);
	}
	fclose(f);
	pctl_log_close(b->log, pctl_diag_list_call(b->said));
	pctl_diag_list_destroy(b->said);
	unlink(b->path);
	return b->text;
}

static void test_ipc_log__one_line_whatever_is_said(void **state)
{
	const pctl_log_field fields[] = {
		{"plain", "a"}, {"none", NULL}, {"spaced", "a \"b\"\n"}, {"empty", ""}};
	kept b;

	(void)state;
	begin(&b, PCTL_LOG_INFO, PCTL_LOG_TEXT);
	pctl_log_write(b.log, PCTL_LOG_WARNING, "some", "two\nlines\x1b[2J \xff", fields, 4);
	pctl_log_write(b.log, PCTL_LOG_DEBUG, "some", "too detailed", NULL, 0);
	pctl_log_write(NULL, PCTL_LOG_ERROR, "nobody", "nothing", NULL, 0);
	assert_string_equal(end(&b), "warning some: two\\nlines\\x1b[2J \\xff plain=a "
				     "spaced=\"a \\\"b\\\"\\n\" empty=\"\"\n");
}

static void test_ipc_log__json_is_an_object_a_line(void **state)
{
	const pctl_log_field fields[] = {{"key", "\"v\"\n"}};
	kept b;

	(void)state;
	begin(&b, PCTL_LOG_DEBUG, PCTL_LOG_JSON);
	pctl_log_write(b.log, PCTL_LOG_INFO, "some", "a\nb", fields, 1);
	assert_non_null(strstr(end(&b),
			       "\"level\":\"info\",\"component\":\"some\",\"message\":\"a\\nb\","
			       "\"fields\":{\"key\":\"\\\"v\\\"\\n\"}}\n"));
}

static void test_ipc_log__a_process_is_heard_line_by_line(void **state)
{
	char *const argv[] = {
		(char *)"sh", (char *)"-c",
		(char *)"printf 'one\\ntw' >&2; sleep 0.1; printf 'o\\nlast' >&2; exit 3", NULL};
	kept b;
	pctl_process p;
	pctl_process_spec spec = {.path = "/bin/sh", .argv = argv, .name = "driver"};
	const char *text;

	(void)state;
	begin(&b, PCTL_LOG_WARNING, PCTL_LOG_TEXT);
	spec.log = b.log;
	assert_int_equal(pctl_process_spawn(&spec, pctl_diag_list_call(b.said), &p), PCTL_OK);
	assert_true(pctl_process_reap(&p, 10000));
	pctl_process_drop(&p);
	text = end(&b);
	assert_ptr_equal(strstr(text,
				"warning driver: one\nwarning driver: two\nwarning driver: last\n"
				"warning driver: exited with status 3"),
			 text);
}

static void test_ipc_log__what_cannot_be_written_is_told_once(void **state)
{
	pctl_diag_list *said = pctl_diag_list_create();
	pctl_log_options o = {.path = "/dev/full", .level = PCTL_LOG_INFO};
	pctl_log *log;

	(void)state;
	assert_int_equal(pctl_log_open(&o, pctl_diag_list_call(said), &log), PCTL_OK);
	pctl_log_write(log, PCTL_LOG_INFO, "some", "lost", NULL, 0);
	pctl_log_write(log, PCTL_LOG_INFO, "some", "lost, too", NULL, 0);
	pctl_log_close(log, pctl_diag_list_call(said));
	assert_int_equal(pctl_diag_list_count(said), 1);
	assert_int_equal(pctl_diag_list_at(said, 0)->code, PC23_OUTPUT_LOST);
	o.path = "/nowhere/log";
	assert_int_equal(pctl_log_open(&o, pctl_diag_list_call(said), &log), PCTL_E_IO);
	assert_int_equal(pctl_diag_list_at(said, 1)->code, PC3_IO);
	pctl_diag_list_destroy(said);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_ipc_log__one_line_whatever_is_said),
		PCTL_TEST(test_ipc_log__json_is_an_object_a_line),
		PCTL_TEST(test_ipc_log__a_process_is_heard_line_by_line),
		PCTL_TEST(test_ipc_log__what_cannot_be_written_is_told_once))
