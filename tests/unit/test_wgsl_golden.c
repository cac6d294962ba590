/* Every shader of tests/golden/wgsl: the good ones compile without a word, the bad ones give
 * exactly the codes and lines their first line lists. Each bad one has a good twin of the same
 * name. */
#include <dirent.h>
#include <stdlib.h>

#include "foundation/diag/diag.h"
#include "main.h"
#include "compiler/wgsl/wgsl.h"

#define ROOT PIPECTL_SOURCE_DIR "/tests/golden/wgsl/"
#define MAX_LIST 65536

static char *read_all(const char *path, size_t *n)
{
	FILE *f = fopen(path, "rb");
	char *text;
	long size;

	if (!f)
		return NULL;
	fseek(f, 0, SEEK_END);
	size = ftell(f);
	rewind(f);
	text = malloc((size_t)size + 1);
	assert_non_null(text);
	*n = fread(text, 1, (size_t)size, f);
	text[*n] = 0;
	fclose(f);
	return text;
}

static int is_shader(const struct dirent *e)
{
	size_t n = strlen(e->d_name);

	return n > 5 && !strcmp(e->d_name + n - 5, ".wgsl");
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Words of a list, sorted, so that lists compare whatever their order. */
static void normalise(const char *list, char *out)
{
	char copy[MAX_LIST], *words[512], *word, *rest = copy;
	int n = 0, i;

	snprintf(copy, sizeof(copy), "%s", list);
	while ((word = strsep(&rest, " \n")) && n < 512)
		if (*word)
			words[n++] = word;
	qsort(words, (size_t)n, sizeof(*words), by_text);
	*out = 0;
	for (i = 0; i < n; i++) {
		strcat(out, words[i]);
		strcat(out, " ");
	}
}

/* Compile; the codes as "PC2110@4 ...". 1 when a program came out. flags: beside those of the text. */
static int compile_as(const char *path, uint32_t flags, char *found)
{
	pctl_diag_list *l = pctl_diag_list_create();
	pctl_wgsl_options o = {.file = path, .flags = flags};
	pctl_program *p;
	uint32_t i;
	size_t n;
	char *text = read_all(path, &n);
	int ok;

	assert_non_null(text);
	if (strstr(text, "// flags: consensus"))
		o.flags |= PCTL_WGSL_CONSENSUS;
	if (strstr(text, "// flags: native"))
		o.flags |= PCTL_WGSL_NATIVE;
	ok = pctl_wgsl_compile(text, n, &o, pctl_diag_list_call(l), &p) == PCTL_OK;
	assert_int_equal(ok, p != NULL);
	*found = 0;
	for (i = 0; i < pctl_diag_list_count(l); i++) {
		const pctl_diag *d = pctl_diag_list_at(l, i);

		assert_true(d->pos.line > 0 && d->pos.column > 0);
		assert_true(d->pos.end_column > d->pos.column);
		assert_true(d->message && *d->message);
		sprintf(found + strlen(found), "PC%u@%u ", d->code, d->pos.line);
	}
	pctl_program_destroy(p);
	pctl_diag_list_destroy(l);
	free(text);
	return ok;
}

static int compile(const char *path, char *found)
{
	return compile_as(path, 0, found);
}

static void test_wgsl_golden__good_ones_compile(void **state)
{
	struct dirent **list;
	int n = scandir(ROOT "good", &list, is_shader, alphasort), i, bad = 0;
	static char found[MAX_LIST];
	char path[4096];

	(void)state;
	assert_true(n > 50);
	for (i = 0; i < n; i++) {
		snprintf(path, sizeof(path), ROOT "good/%s", list[i]->d_name);
		if (!compile(path, found) || *found) {
			fprintf(stderr, "good/%s: %s\n", list[i]->d_name, found);
			bad++;
		}
		free(list[i]);
	}
	free(list);
	assert_int_equal(bad, 0);
}

static void test_wgsl_golden__bad_ones_give_what_they_expect(void **state)
{
	static char found[MAX_LIST], want[MAX_LIST], a[MAX_LIST], b[MAX_LIST];
	struct dirent **list;
	int n = scandir(ROOT "bad", &list, is_shader, alphasort), i, bad = 0;
	char path[4096], *text, *end;
	size_t size;

	(void)state;
	assert_true(n > 50);
	for (i = 0; i < n; i++) {
		snprintf(path, sizeof(path), ROOT "good/%s", list[i]->d_name);
		text = read_all(path, &size);
		if (!text) {
			fprintf(stderr, "bad/%s has no good twin\n", list[i]->d_name);
			bad++;
		}
		free(text);
		snprintf(path, sizeof(path), ROOT "bad/%s", list[i]->d_name);
		text = read_all(path, &size);
		assert_memory_equal(text, "// expect: ", 11);
		end = strchr(text, '\n');
		assert_non_null(end);
		*end = 0;
		snprintf(want, sizeof(want), "%s", text + 11);
		free(text);
		assert_false(compile(path, found));
		normalise(found, a);
		normalise(want, b);
		if (strcmp(a, b) != 0) {
			fprintf(stderr, "bad/%s:\n  expected %s\n  found    %s\n", list[i]->d_name,
				b, a);
			bad++;
		}
		free(list[i]);
	}
	free(list);
	assert_int_equal(bad, 0);
}

/* Where version 1 of the consensus rules said something else, good or bad, a line of the text tells
 * what: "// rules 1: " and the codes, or "nothing". All else it judged as now. */
static uint32_t replay(const char *folder)
{
	static char found[MAX_LIST], now[MAX_LIST], want[MAX_LIST], a[MAX_LIST], b[MAX_LIST];
	char path[4096], *text, *mark;
	struct dirent **list;
	uint32_t bad = 0, n_marked = 0;
	size_t size;
	int i, n;

	snprintf(path, sizeof(path), ROOT "%s", folder);
	n = scandir(path, &list, is_shader, alphasort);
	for (i = 0; i < n; i++) {
		snprintf(path, sizeof(path), ROOT "%s/%s", folder, list[i]->d_name);
		text = read_all(path, &size);
		mark = strstr(text, "// rules 1: ");
		n_marked += mark != NULL;
		if (mark)
			mark[strcspn(mark, "\n")] = 0;
		compile(path, now);
		snprintf(want, sizeof(want), "%s",
			 !mark				? now
			 : strcmp(mark + 12, "nothing") ? mark + 12
							: "");
		compile_as(path, PCTL_WGSL_RULES_1, found);
		normalise(found, a);
		normalise(want, b);
		if (strcmp(a, b) != 0 || (mark && strcmp(found, now) == 0)) {
			fprintf(stderr, "%s/%s under rules 1:\n  expected %s\n  found    %s\n",
				folder, list[i]->d_name, b, a);
			bad++;
		}
		free(text);
		free(list[i]);
	}
	free(list);
	assert_true(n_marked > 2);
	return bad;
}

static void test_wgsl_golden__first_rules_judge_as_they_did(void **state)
{
	(void)state;
	assert_int_equal(replay("good") + replay("bad"), 0);
}

/* Codes whose bad input is made by another test, because a file of it would be too large. */
static int is_made_elsewhere(uint32_t code)
{
	return code == PC2104_WGSL_SOURCE_SIZE || code == PC2108_WGSL_TOO_MANY_ERRORS ||
	       code == PC2109_WGSL_PROGRAM_SIZE;
}

static void test_wgsl_golden__every_code_has_a_bad_file(void **state)
{
	static char all[1 << 20];
	struct dirent **list;
	int n = scandir(ROOT "bad", &list, is_shader, alphasort), i;
	char path[4096], word[16], *text;
	uint32_t k, missing = 0;
	size_t size;

	(void)state;
	for (i = 0; i < n; i++) {
		snprintf(path, sizeof(path), ROOT "bad/%s", list[i]->d_name);
		text = read_all(path, &size);
		*strchr(text, '\n') = 0;
		strcat(all, text);
		strcat(all, " ");
		free(text);
		free(list[i]);
	}
	free(list);
	for (k = 0; k < pctl_code_count(); k++) {
		uint32_t code = pctl_code_at(k);

		if (code < 2100 || code > 2499 || is_made_elsewhere(code))
			continue;
		snprintf(word, sizeof(word), "PC%u@", code);
		if (!strstr(all, word)) {
			fprintf(stderr, "PC%u %s has no bad file\n", code, pctl_code_slug(code));
			missing++;
		}
	}
	assert_int_equal(missing, 0);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_wgsl_golden__good_ones_compile),
		PCTL_TEST(test_wgsl_golden__bad_ones_give_what_they_expect),
		PCTL_TEST(test_wgsl_golden__first_rules_judge_as_they_did),
		PCTL_TEST(test_wgsl_golden__every_code_has_a_bad_file))
