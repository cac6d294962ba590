/* Implementation of found.h. */
#include "evidence/certify/found.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/file.h"
#include "foundation/base/order.h"
#include "foundation/base/vec.h"
#include "evidence/suite/suite.h"

#define FILE_MOST (64u << 20) /* bytes of a certificate that are looked through */

typedef PCTL_VEC(const char *) path_list;

/* Files of a directory and, depth 1, of the directories in it. 0: no memory. */
static int look(pctl_arena *arena, const char *dir, int depth, path_list *out)
{
	DIR *d = opendir(dir);
	const struct dirent *e;
	int ok = 1;

	while (ok && d != NULL && (e = readdir(d)) != NULL) {
		const size_t n = strlen(e->d_name);
		const char *path = pctl_arena_printf(arena, "%s/%s", dir, e->d_name);

		if (path == NULL)
			ok = 0;
		else if (e->d_name[0] == '.')
			continue;
		else if (n > 4 && strcmp(e->d_name + n - 4, ".cfg") == 0)
			ok = PCTL_VEC_PUSH(out, path);
		else if (depth > 0 && pctl_dir_exists(path))
			ok = look(arena, path, depth - 1, out);
	}
	if (d != NULL)
		closedir(d);
	return ok;
}

static const char *note_of(const pctl_found *f, const pctl_certificate *c,
			   const pctl_plugin_info *backend)
{
	char path[4200];

	if (backend != NULL && backend->roles & PCTL_ROLE_SYNTHETIC)
		return "its backend is a test backend (role synthetic)";
	snprintf(path, sizeof(path), "%s/profiles/%s.revoked", f->home, c->profile);
	if (pctl_file_exists(path))
		return "the device's profile is revoked";
	if (strcmp(c->kit, PCTL_PROBE_KIT) != 0)
		return "made with another probe kit";
	if (strcmp(c->suite, PCTL_SUITE_VERSION) != 0)
		return "made with another engine suite";
	if (strcmp(c->semantics, PCTL_SEMANTICS_VERSION) != 0)
		return "made for another version of the semantics";
	return "";
}

/* ---- files -------------------------------------------------------------------------------- */

/* The file of an op library that is loaded here, or NULL. */
static const char *library_here(const pctl_op_source *ops, const char *id)
{
	for (uint32_t i = 0; ops != NULL && i < ops->count(ops->ctx); i++) {
		pctl_op_ref op;

		ops->at(ops->ctx, i, &op);
		if (op.plugin != NULL && strcmp(op.plugin, id) == 0)
			return op.digest;
	}
	return NULL;
}

static int same_text(const char *a, const char *b)
{
	return a != NULL && b != NULL && a[0] != '\0' && strcmp(a, b) == 0;
}

/* The first of such lines as pctl_session_late gives that c does not name; NULL: it names all of them. */
static const char *unnamed(const pctl_certificate *c, const char *late)
{
	for (; late[0] != '\0'; late += strcspn(late, "\n") + 1) {
		const size_t name = strcspn(late, "\t\n"), all = strcspn(late, "\n");
		uint32_t i = 0;

		while (i < c->n_late &&
		       (strlen(c->late[i].key) != name ||
			strncmp(c->late[i].key, late, name) != 0 || name == all ||
			strlen(c->late[i].value) != all - name - 1 ||
			strncmp(c->late[i].value, late + name + 1, all - name - 1) != 0))
			i++;
		if (i == c->n_late)
			return late;
	}
	return NULL;
}

/* Which file of those that c names is another one here: "" when all are the same. backend: the plugin in use, NULL when
 * there is none of that id; files: what its session was opened on, NULL where none is open; late: what it has mapped since
 * then. All libraries count: an op may use those of another library. */
static const char *other_file(const pctl_found *f, const pctl_certificate *c,
			      const pctl_plugin_info *backend, const char *files, const char *late,
			      const pctl_op_source *ops)
{
	const char *other = unnamed(c, late);
	const char *text = NULL;

	if (backend == NULL || !same_text(c->backend, backend->id))
		text = pctl_arena_printf(f->arena, "made with backend \"%s\"", c->backend);
	else if (!same_text(c->backend_sha256, backend->sha256))
		text = pctl_arena_printf(f->arena, "made with another file of backend \"%s\"",
					 c->backend);
	else if (files != NULL && !same_text(c->driver_files, files))
		text = "made with another driver library, or other settings of it";
	else if (other != NULL)
		text = pctl_arena_printf(f->arena,
					 "made without %.*s, which the driver mapped late",
					 (int)strcspn(other, "\t\n"), other);
	else if (!same_text(c->host, f->host))
		text = "made with another pipectl or worker";
	else
		text = "";
	for (uint32_t i = 0; text != NULL && text[0] == '\0' && i < c->n_libraries; i++)
		if (!same_text(c->libraries[i].value, library_here(ops, c->libraries[i].key)))
			text = pctl_arena_printf(f->arena,
						 "made with another file of op library \"%s\"",
						 c->libraries[i].key);
	return text == NULL ? "made with other files" : text;
}

pctl_status pctl_found_claim(const pctl_certificate *c, pctl_registry *registry,
			     const pctl_op_source *ops, pctl_arena *arena, const pctl_call *call,
			     const char **out)
{
	pctl_found f = {.arena = arena};
	const pctl_status status = pctl_registry_host(registry, call, &f.host);

	*out = "";
	if (status == PCTL_OK)
		*out = other_file(&f, c, pctl_registry_find(registry, c->backend), NULL, "", ops);
	return status;
}

/* 1: the file has this text somewhere. What cannot be read has none. */
static int names(const char *path, const char *text)
{
	const pctl_call quiet = {.head = PCTL_HEAD(pctl_call)};
	uint64_t n;
	char *data;
	int has;

	if (pctl_file_read(path, FILE_MOST, &quiet, &data, &n) != PCTL_OK)
		return 0;
	has = memmem(data, n, text, strlen(text)) != NULL;
	free(data);
	return has;
}

static pctl_status take(pctl_found *f, const pctl_found_options *o, const path_list *paths,
			const pctl_call *call)
{
	const pctl_call quiet = {.head = PCTL_HEAD(pctl_call)};
	const pctl_plugin_info *backend;
	pctl_status status = pctl_registry_host(o->registry, call, &f->host);

	for (uint32_t i = 0; status == PCTL_OK && i < paths->n; i++) {
		pctl_found_certificate *x = &f->items[f->n];

		if (i > 0 && strcmp(paths->items[i], paths->items[i - 1]) == 0)
			continue;
		if (o->of_host && !names(paths->items[i], f->host))
			continue;
		if (pctl_certificate_read(paths->items[i], &quiet, &x->c) != PCTL_OK) {
			f->n_refused++;
			continue;
		}
		x->trusted = (uint32_t)pctl_profiles_trust(o->profiles, x->c->signer, call);
		backend = pctl_registry_find(o->registry, x->c->backend);
		x->note = note_of(f, x->c, backend);
		x->claim = other_file(f, x->c, backend, NULL, "", o->ops);
		f->n++;
	}
	return status;
}

pctl_status pctl_found_open(const pctl_found_options *o, const pctl_call *call, pctl_found **out)
{
	pctl_found *f = calloc(1, sizeof(*f));
	path_list paths = {NULL, 0, 0};
	int ok = f != NULL && (f->arena = pctl_arena_create()) != NULL;
	pctl_status status = PCTL_E_NOMEM;

	*out = NULL;
	for (uint32_t i = 0; ok && i < o->n_dirs; i++)
		ok = look(f->arena, o->dirs[i], 1, &paths);
	if (ok) {
		if (paths.n != 0)
			qsort(paths.items, paths.n, sizeof(*paths.items), pctl_order_texts);
		f->home = pctl_arena_dup(f->arena, o->home);
		f->items = pctl_arena_array(f->arena, paths.n + 1u, sizeof(*f->items));
		ok = f->items != NULL && f->home != NULL;
	}
	if (ok)
		status = take(f, o, &paths, call);
	else
		(void)pctl_no_memory(call, "certificates");
	free(paths.items);
	if (status == PCTL_OK)
		*out = f;
	else
		pctl_found_close(f);
	return status;
}

void pctl_found_close(pctl_found *f)
{
	if (f == NULL)
		return;
	for (uint32_t i = 0; i < f->n; i++)
		pctl_certificate_destroy(f->items[i].c);
	pctl_arena_destroy(f->arena);
	free(f);
}

/* A fact as it stands in certificates. */
static int same_fact(const char *fact, size_t size, const char *text)
{
	const size_t n = strnlen(fact, size);

	if (strlen(text) != n)
		return 0;
	for (size_t i = 0; i < n; i++) {
		const char c = fact[i] >= ' ' && fact[i] < 0x7f ? fact[i] : ' ';

		if (text[i] != c)
			return 0;
	}
	return 1;
}

int pctl_found_same_device(const pctl_certificate *c, const pctl_key_value *identity, uint32_t n)
{
	if (n > PCTL_PROFILE_IDENTITY_MAX)
		n = PCTL_PROFILE_IDENTITY_MAX;
	if (c->n_identity != n)
		return 0;
	for (uint32_t i = 0; i < n; i++)
		if (!same_fact(identity[i].key, sizeof(identity[i].key), c->identity[i].key) ||
		    !same_fact(identity[i].value, sizeof(identity[i].value), c->identity[i].value))
			return 0;
	return 1;
}

static uint32_t level_of(const pctl_certificate *c, const char *op)
{
	uint32_t best = 0;

	for (uint32_t k = 0; k < c->n_ops; k++)
		if (strcmp(c->ops[k].op, op) == 0 && c->ops[k].level > best)
			best = c->ops[k].level;
	return best;
}

static int names_library(const pctl_certificate *c, const char *id)
{
	for (uint32_t i = 0; i < c->n_libraries; i++)
		if (same_text(c->libraries[i].key, id))
			return 1;
	return 0;
}

/* Another plugin is another device, whatever it says of itself. One that goes wrong on purpose holds no level. */
static int is_about(const pctl_found_certificate *x, const pctl_level_question *q)
{
	return x->trusted && !(q->backend->roles & PCTL_ROLE_SYNTHETIC) && x->note[0] == '\0' &&
	       x->c->params.track == q->track && same_text(x->c->backend, q->backend->id) &&
	       names_library(x->c, q->library) &&
	       pctl_found_same_device(x->c, q->identity, q->n_identity);
}

void pctl_found_level(const pctl_found *f, const pctl_level_question *q, pctl_level_answer *out)
{
	*out = (pctl_level_answer){0, 0, NULL};
	for (uint32_t i = 0; q->backend != NULL && i < f->n; i++) {
		const pctl_found_certificate *x = &f->items[i];
		const uint32_t level = is_about(x, q) ? level_of(x->c, q->op) : 0;
		const char *other = level == 0 ? ""
					       : other_file(f, x->c, q->backend,
							    q->files == NULL ? "" : q->files,
							    q->late == NULL ? "" : q->late, q->ops);

		if (other[0] == '\0') {
			out->level = level > out->level ? level : out->level;
		} else if (level > out->claimed) {
			out->claimed = level;
			out->hint = pctl_arena_printf(
				f->arena,
				"%s claims L%u, %s; `pipectl certify confirm %s` runs a sample of "
				"its proof with the files installed here and, where all bytes "
				"agree, signs a certificate for them",
				x->c->path, level, other, x->c->path);
		}
	}
	if (out->claimed < q->wanted || out->level >= q->wanted)
		out->hint = NULL;
}
