/* The reproduction of one step as files: its kernel, what every binding holds before it, and a script that runs it on
 * both devices and compares. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/audit/audit_private.h"
#include "foundation/base/file.h"
#include "foundation/base/str.h"

#define TRIES 5u

static pctl_status write_text(const char *dir, const char *name, const void *data, uint64_t n,
			      const pctl_call *call)
{
	char *path = pctl_path_join(dir, name);
	pctl_status status = path == NULL ? pctl_no_memory(call, "an audit")
					  : pctl_file_write(path, data, n, 0, call);

	free(path);
	return status;
}

/* ---- overrides as text -------------------------------------------------------------------- */

/* Is the program the same with this text in place of the bits. */
static int means(const pctl_auditing *a, const pctl_kernel_module *u, uint32_t i, const char *text)
{
	const pctl_call quiet = {.head = PCTL_HEAD(pctl_call)};
	pctl_override_value *values = calloc(u->n_overrides + 1u, sizeof(*values));
	pctl_kernel_source source = {
		u->name,    u->text,	    u->n_text,	       u->entry,
		values,	    u->n_overrides, u->flags,	       u->known.groups,
		0,	    u->turns,	    u->known.bindings, u->known.n_bindings,
		u->subgroup};
	const pctl_kernel_module *made;
	int same = 0;

	if (values != NULL) {
		memcpy(values, u->overrides, u->n_overrides * sizeof(*values));
		values[i].text = text;
		same = pctl_override_is_value(text) &&
		       pctl_kernels_get(a->graph->kernels, &source, &quiet, &made) == PCTL_OK &&
		       pctl_cid_compare(&made->cid, &u->cid) == 0;
	}
	free(values);
	return same;
}

/* An override's value as --override takes it. Its type is not at hand, so the first text that gives the same program is
 * taken. NULL: there is none. */
static const char *override_text(const pctl_auditing *a, const pctl_kernel_module *u, uint32_t i)
{
	const pctl_override_value *v = &u->overrides[i];
	uint32_t low = (uint32_t)v->bits;
	float f;
	const char *texts[4];

	if (v->text != NULL)
		return v->text;
	memcpy(&f, &low, sizeof(f));
	texts[0] = pctl_arena_printf(a->r->arena, "%" PRIu64, v->bits);
	texts[1] = pctl_arena_printf(a->r->arena, "%" PRId64, (int64_t)v->bits);
	texts[2] = v->bits == 0 ? "false" : "true";
	texts[3] = pctl_arena_printf(a->r->arena, "%a", (double)f);
	for (uint32_t k = 0; k < 4; k++)
		if (texts[k] != NULL && means(a, u, i, texts[k]))
			return texts[k];
	return NULL;
}

/* ---- the script --------------------------------------------------------------------------- */

/* In single quotes for a shell. */
static void add_quoted(pctl_str_buf *s, const char *text)
{
	pctl_str_add(s, "'");
	for (; *text != '\0'; text++)
		pctl_str_add_n(s, *text == '\'' ? "'\\''" : text, *text == '\'' ? 4 : 1);
	pctl_str_add(s, "'");
}

static int add_command(const pctl_auditing *a, const pctl_audit_divergence *d,
		       const pctl_comparison_case *c, pctl_str_buf *s)
{
	const pctl_kernel_module *u = c->unit;

	pctl_str_addf(s,
		      "\t\"$pipectl\" --home \"$home\" $PIPECTL_OPTIONS shader run kernel.wgsl "
		      "--backend \"$1\" --class %s%s \\\n\t\t--dispatch %" PRIu32 ",%" PRIu32
		      ",%" PRIu32 " --trace ",
		      pctl_class_name(u->analysis->determinism),
		      a->o->run.flags & PCTL_RUN_IN_PROCESS ? " --in-process" : "", c->groups[0],
		      c->groups[1], c->groups[2]);
	add_quoted(s, d->job);
	pctl_str_addf(s, "/%" PRIu32 ".%" PRIu32, d->round, d->step);
	if (u->turns != 0)
		pctl_str_addf(s, " --max-turns %" PRIu32, u->turns);
	if (u->subgroup != 0)
		pctl_str_addf(s, " --subgroup %" PRIu32, u->subgroup);
	if (u->entry != NULL) {
		pctl_str_add(s, " --entry ");
		add_quoted(s, u->entry);
	}
	for (uint32_t i = 0; i < u->n_overrides; i++) {
		const char *text = override_text(a, u, i);

		if (text == NULL)
			return 0;
		pctl_str_addf(s, " \\\n\t\t--override %s=%s", u->overrides[i].name, text);
	}
	for (uint32_t i = 0; i < c->n_bindings; i++) {
		const pctl_comparison_binding *b = &c->bindings[i];

		pctl_str_addf(
			s, " \\\n\t\t--bind %" PRIu32 ":%" PRIu32 "=in-%" PRIu32 "-%" PRIu32 ".bin",
			b->group, b->binding, b->group, b->binding);
		if (b->is_written)
			pctl_str_addf(s,
				      " --read %" PRIu32 ":%" PRIu32 "=\"$out/$2-%" PRIu32
				      "-%" PRIu32 ".bin\"",
				      b->group, b->binding, b->group, b->binding);
	}
	pctl_str_add(s, " >&2\n");
	return 1;
}

static int add_script(const pctl_auditing *a, const pctl_audit_divergence *d, uint32_t right,
		      const pctl_comparison_case *c, pctl_str_buf *s)
{
	pctl_str_add(
		s,
		"#!/bin/sh\n# Exit 0: the two devices still differ. 1: they agree. 2: one of them "
		"failed to run.\n# PIPECTL names the program, PIPECTL_OPTIONS further options "
		"of it (--plugin-dir DIR).\n# It runs in a home of its own: in the other one the "
		"device may be in quarantine by now.\n"
		"pipectl=${PIPECTL:-pipectl}\n"
		"cd \"$(dirname \"$0\")\" || exit 2\n"
		"out=$(mktemp -d) || exit 2\n"
		"trap 'rm -rf \"$out\"' EXIT\n"
		"home=${PIPECTL_REPRODUCE_HOME:-$out/home}\n"
		"step() {\n");
	if (!add_command(a, d, c, s))
		return 0;
	pctl_str_add(s, "}\nstep ");
	add_quoted(s, a->r->devices[d->device].selector);
	pctl_str_add(s, " device || exit 2\nstep ");
	add_quoted(s, a->r->devices[right].selector);
	pctl_str_add(s, " reference || exit 2\nsame=1\n");
	for (uint32_t i = 0; i < c->n_bindings; i++)
		if (c->bindings[i].is_written)
			pctl_str_addf(s,
				      "cmp \"$out/device-%" PRIu32 "-%" PRIu32
				      ".bin\" \"$out/reference-%" PRIu32 "-%" PRIu32
				      ".bin\" || same=0\n",
				      c->bindings[i].group, c->bindings[i].binding,
				      c->bindings[i].group, c->bindings[i].binding);
	pctl_str_add(s, "[ $same = 0 ]\n");
	return 1;
}

static void add_readme(const pctl_auditing *a, const pctl_audit_divergence *d, uint32_t right,
		       pctl_str_buf *s)
{
	pctl_str_addf(s,
		      "Job \"%s\" (%s), round %" PRIu32 ", step %" PRIu32 ", kernel %s:\n"
		      "%s differs from %s in %s, element %" PRIu64 ": 0x%" PRIx64 ", not 0x%" PRIx64
		      ".\n\n",
		      d->job, d->what, d->round, d->step, d->kernel,
		      a->r->devices[d->device].selector, a->r->devices[right].selector, d->buffer,
		      d->buffer_element, d->buffer_got, d->buffer_want);
	pctl_str_add(s, "Run it again, on both devices:\n\n    sh reproduce.sh\n\n"
			"It exits with 0 when they still differ. kernel.wgsl is the step's kernel, "
			"in-GROUP-BINDING.bin\nwhat each binding holds before it, made as small as "
			"the difference allows.\n");
	pctl_str_addf(s,
		      "It was tried %" PRIu32 " times when it was made and differed %" PRIu32
		      " times; bindings have %" PRIu64 " bytes that are not zero, of %" PRIu64
		      " at first.\n",
		      d->tried, d->reproduced, d->shrunk_bytes, d->shrunk_from);
}

static pctl_status write_files(const pctl_auditing *a, const pctl_audit_divergence *d,
			       uint32_t right, const pctl_comparison_case *c, const char *dir,
			       int *written)
{
	pctl_str_buf script = PCTL_STR_BUF_INIT, readme = PCTL_STR_BUF_INIT;
	pctl_status status = pctl_file_make_dirs(dir, a->call);

	*written = add_script(a, d, right, c, &script);
	add_readme(a, d, right, &readme);
	if (status == PCTL_OK && (script.failed || readme.failed))
		status = pctl_no_memory(a->call, "an audit");
	if (status == PCTL_OK && *written) {
		status = write_text(dir, "kernel.wgsl", c->unit->text, c->unit->n_text, a->call);
		if (status == PCTL_OK)
			status = write_text(dir, "reproduce.sh", script.data, script.n, a->call);
		if (status == PCTL_OK)
			status = write_text(dir, "README", readme.data, readme.n, a->call);
		for (uint32_t i = 0; status == PCTL_OK && i < c->n_bindings; i++) {
			const pctl_comparison_binding *b = &c->bindings[i];
			char name[64];

			snprintf(name, sizeof(name), "in-%" PRIu32 "-%" PRIu32 ".bin", b->group,
				 b->binding);
			status = write_text(dir, name, b->data, b->n_bytes, a->call);
		}
	}
	pctl_str_drop(&script);
	pctl_str_drop(&readme);
	return status;
}

static uint64_t bytes_of(const pctl_comparison_case *c)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < c->n_bindings; i++)
		for (uint64_t k = 0; k < c->bindings[i].n_bytes; k++)
			n += c->bindings[i].data[k] != 0;
	return n;
}

/* One directory for each device that has a reproduction: DIR for the first, DIR/device-N for others. */
static const char *directory(const pctl_auditing *a, const pctl_audit_divergence *d)
{
	for (uint32_t i = 0; i < a->r->n_divergences; i++)
		if (&a->r->divergences[i] != d && a->r->divergences[i].dir != NULL)
			return pctl_arena_printf(a->r->arena, "%s/device-%" PRIu32, a->o->repro,
						 d->device);
	return pctl_arena_dup(a->r->arena, a->o->repro);
}

pctl_status pctl_auditing_reproduce(const pctl_auditing *a, pctl_audit_divergence *d,
				    uint32_t right, pctl_comparison_case *c, int sure)
{
	const char *dir = directory(a, d);
	pctl_comparison comparison;
	pctl_status status = pctl_comparison_open(a, d->device, right, &comparison);
	int written, differs = 0;

	if (status != PCTL_OK || dir == NULL) {
		if (status == PCTL_OK)
			pctl_comparison_close(&comparison);
		return status == PCTL_OK ? PCTL_E_NOMEM : status;
	}
	d->shrunk_from = bytes_of(c);
	for (uint32_t i = 0; i < TRIES && !differs; i++)
		differs = pctl_comparison_differs(&comparison, c);
	if (!differs && !sure) {
		pctl_comparison_close(&comparison);
		return PCTL_OK;
	}
	if (differs)
		pctl_comparison_shrink(&comparison, c);
	for (d->tried = 0; d->tried < TRIES; d->tried++)
		d->reproduced += (uint32_t)pctl_comparison_differs(&comparison, c);
	pctl_comparison_close(&comparison);
	d->shrunk_bytes = bytes_of(c);
	memcpy(d->groups, c->groups, sizeof(d->groups));
	status = write_files(a, d, right, c, dir, &written);
	if (status == PCTL_OK && written) {
		d->dir = dir;
		d->command = pctl_arena_printf(a->r->arena, "sh %s/reproduce.sh", dir);
		if (d->command == NULL)
			status = PCTL_E_NOMEM;
	}
	return status;
}
