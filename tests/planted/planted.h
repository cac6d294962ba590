/* Rows of the table of planted faults. A test that has just seen a violator caught says so here; where the environment
 * variable PIPECTL_PLANTED names a file, a line is written to it: fault, where it was planted, what caught it and what
 * that named, between tabs. Texts come from what the test really found. tests/planted/planted.py makes the table. */
#ifndef PIPECTL_TESTS_PLANTED_H
#define PIPECTL_TESTS_PLANTED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A counterexample as one text, valid until the next call: its inputs, what was got and what was wanted, as far as given. */
static inline const char *planted_case(const char *inputs, const char *got, const char *want)
{
	static char text[1024];

	snprintf(text, sizeof(text), "%s: got %s%s%s", inputs, got,
		 want[0] == '\0' ? "" : ", wanted ", want);
	return text;
}

static inline void planted_field(FILE *f, const char *text, char end)
{
	for (; *text != '\0'; text++)
		fputc(*text == '\t' || *text == '\n' ? ' ' : *text, f);
	fputc(end, f);
}

/*
 * fault      what was wrong
 * where      the device, op or unit that had it
 * caught_by  the law, gate, class, invariant or rule that said so
 * named      its words or bits; not empty, or the process ends: a catch that names nothing is none
 */
static inline void planted(const char *fault, const char *where, const char *caught_by,
			   const char *named)
{
	const char *path = getenv("PIPECTL_PLANTED");
	static int begun; /* rows of an earlier run are not kept */
	FILE *f;

	if (named == NULL || named[0] == '\0' || caught_by == NULL || caught_by[0] == '\0') {
		fprintf(stderr, "planted: \"%s\" in %s was caught without a word\n", fault, where);
		exit(1);
	}
	if (path == NULL || path[0] == '\0')
		return;
	f = fopen(path, begun ? "a" : "w");
	begun = 1;
	if (f == NULL) {
		fprintf(stderr, "planted: %s cannot be opened\n", path);
		exit(1);
	}
	planted_field(f, fault, '\t');
	planted_field(f, where, '\t');
	planted_field(f, caught_by, '\t');
	planted_field(f, named, '\n');
	if (fclose(f) != 0)
		exit(1);
}

#endif
