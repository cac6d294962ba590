/* Manifests: what a plugin says of itself before any of its code runs. */
#include <libgen.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/file.h"
#include "runtime/cas/cid.h"
#include "foundation/conf/schema.h"
#include "foundation/diag/diag.h"
#include "runtime/ipc/calls.h"
#include "runtime/plugin/registry_private.h"

#define SUFFIX ".plugin.cfg"
#define ID_MAX 32u

static const char *const kinds[] = {"backend", "oplib", NULL};
static const char *const isolations[] = {"worker", "in-process", NULL};
static const char *const roles[] = {"reference", "synthetic", "inert",
				    NULL};				  /* bits of PCTL_ROLE_* */
static const char *const selects[] = {"device", "script", "layer", NULL}; /* PCTL_SELECTS_* */
static const char *const drivers[] = {"none", "vulkan", "opencl", NULL};

static pctl_status check_id(const pctl_conf_value *v, const pctl_call *call)
{
	const size_t n = strlen(v->text);

	if (n == 0 || n > ID_MAX || v->text[0] < 'a' || v->text[0] > 'z' ||
	    strspn(v->text, "abcdefghijklmnopqrstuvwxyz0123456789-") != n)
		return pctl_refuse_at(
			call, PC3001_PLUGIN_MANIFEST, &v->pos, NULL,
			"plugin id \"%.64s\" is not of the form [a-z][a-z0-9-]*, at most %u bytes",
			v->text, ID_MAX);
	return PCTL_OK;
}

static pctl_status check_sha256(const pctl_conf_value *v, const pctl_call *call)
{
	uint8_t digest[PCTL_DIGEST_BYTES];

	if (!pctl_digest_parse_hex(v->text, digest))
		return pctl_refuse_at(call, PC3001_PLUGIN_MANIFEST, &v->pos, NULL,
				      "a SHA-256 has 64 lower-case hexadecimal digits");
	return PCTL_OK;
}

static int parse_version(const char *text, uint32_t out[2])
{
	char rest;

	return strlen(text) < 12 && sscanf(text, "%4u.%5u%c", &out[0], &out[1], &rest) == 2;
}

static pctl_status check_version(const pctl_conf_value *v, const pctl_call *call)
{
	uint32_t version[2];

	if (!parse_version(v->text, version))
		return pctl_refuse_at(call, PC3001_PLUGIN_MANIFEST, &v->pos, NULL,
				      "\"%.32s\" is not a version such as \"1.0\"", v->text);
	return PCTL_OK;
}

/* "rank.step@1": the name's length, or 0. */
static size_t split_op(const char *text, uint32_t *version)
{
	const char *at = strchr(text, '@');
	size_t n;
	char *end;
	unsigned long v;

	if (!at || at[1] < '1' || at[1] > '9')
		return 0;
	n = (size_t)(at - text);
	if (n == 0 || n > 96 || strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_.") != n ||
	    !memchr(text, '.', n))
		return 0;
	v = strtoul(at + 1, &end, 10);
	if (*end || v > 1000000)
		return 0;
	*version = (uint32_t)v;
	return n;
}

static pctl_status check_op(const pctl_conf_value *v, const pctl_call *call)
{
	uint32_t version;

	if (!split_op(v->text, &version))
		return pctl_refuse_at(
			call, PC3001_PLUGIN_MANIFEST, &v->pos, NULL,
			"\"%.96s\" is not an op and its version, as in \"rank.step@1\"", v->text);
	return PCTL_OK;
}

static pctl_status check_assignment(const pctl_conf_value *v, const pctl_call *call)
{
	const char *eq = strchr(v->text, '=');

	if (!eq || eq == v->text)
		return pctl_refuse_at(call, PC3001_PLUGIN_MANIFEST, &v->pos, NULL,
				      "\"%.96s\" is not of the form NAME=VALUE", v->text);
	return PCTL_OK;
}

static pctl_status check_name(const pctl_conf_value *v, const pctl_call *call)
{
	if (!v->text[0] || strchr(v->text, '='))
		return pctl_refuse_at(call, PC3001_PLUGIN_MANIFEST, &v->pos, NULL,
				      "\"%.96s\" is not the name of a variable", v->text);
	return PCTL_OK;
}

static pctl_status check_call(const pctl_conf_value *v, const pctl_call *call)
{
	if (pctl_call_set(v->text))
		return PCTL_OK;
	if (seccomp_syscall_resolve_name(v->text) == __NR_SCMP_ERROR)
		return pctl_refuse_at(call, PC3001_PLUGIN_MANIFEST, &v->pos,
				      "write the name of a Linux system call, or \"driver\" or "
				      "\"processes\", which stand for several",
				      "\"%.64s\" is no system call", v->text);
	if (!pctl_call_can_be_allowed(v->text))
		return pctl_refuse_at(call, PC3001_PLUGIN_MANIFEST, &v->pos,
				      "core/runtime/ipc/calls.def says why",
				      "the system call \"%.64s\" cannot be allowed by its name",
				      v->text);
	return PCTL_OK;
}

static pctl_status check_program(const pctl_conf_value *v, const pctl_call *call)
{
	if (v->text[0] != '/')
		return pctl_refuse_at(call, PC3001_PLUGIN_MANIFEST, &v->pos, NULL,
				      "\"%.96s\" is not an absolute path", v->text);
	return PCTL_OK;
}

static const pctl_conf_field abi_fields[] = {
	{.key = "min",
	 .kind = PCTL_FIELD_STRING,
	 .flags = PCTL_FIELD_REQUIRED,
	 .check = check_version,
	 .doc = "lowest ABI version of a host the plugin works with"},
	{.key = "max",
	 .kind = PCTL_FIELD_STRING,
	 .check = check_version,
	 .default_text = "1.99999",
	 .doc = "highest one"},
};
static const pctl_conf_schema abi_schema = PCTL_CONF_SCHEMA("the abi range", abi_fields);
static const pctl_conf_field text_element = {.kind = PCTL_FIELD_STRING};
static const pctl_conf_field op_element = {.kind = PCTL_FIELD_STRING, .check = check_op};
static const pctl_conf_field name_element = {.kind = PCTL_FIELD_STRING, .check = check_name};
static const pctl_conf_field role_element = {.kind = PCTL_FIELD_CHOICE, .words = roles};
static const pctl_conf_field set_element = {.kind = PCTL_FIELD_STRING, .check = check_assignment};
static const pctl_conf_field call_element = {.kind = PCTL_FIELD_STRING, .check = check_call};
static const pctl_conf_field program_element = {.kind = PCTL_FIELD_STRING, .check = check_program};
#define CALLS_DOC                                                                                \
	"system calls that its confined worker may make besides those of its kind; \"driver\": " \
	"what drivers of devices need, \"processes\": to start processes"
#define PROGRAMS_DOC "absolute paths of programs that its confined worker may execute"
static const pctl_conf_field setting_fields[] = {
	{.key = "driver",
	 .kind = PCTL_FIELD_STRING,
	 .flags = PCTL_FIELD_REQUIRED,
	 .doc = "key of the driver, as `pipectl device list` shows it"},
	{.key = "set",
	 .kind = PCTL_FIELD_LIST,
	 .flags = PCTL_FIELD_REQUIRED,
	 .element = &set_element,
	 .max = 16,
	 .doc = "NAME=VALUE pairs for its environment, unless the user has set NAME"},
	{.key = "calls",
	 .kind = PCTL_FIELD_LIST,
	 .element = &call_element,
	 .max = 32,
	 .doc = CALLS_DOC},
	{.key = "programs",
	 .kind = PCTL_FIELD_LIST,
	 .element = &program_element,
	 .max = 16,
	 .doc = PROGRAMS_DOC},
};
static const pctl_conf_schema setting_schema = PCTL_CONF_SCHEMA("a driver setting", setting_fields);
static const pctl_conf_field setting_element = {.kind = PCTL_FIELD_GROUP, .group = &setting_schema};

static const pctl_conf_field plugin_fields[] = {
	{.key = "id",
	 .kind = PCTL_FIELD_STRING,
	 .flags = PCTL_FIELD_REQUIRED,
	 .check = check_id,
	 .doc = "what the plugin is called, everywhere"},
	{.key = "about", .kind = PCTL_FIELD_STRING, .doc = "one line for listings"},
	{.key = "kind",
	 .kind = PCTL_FIELD_CHOICE,
	 .flags = PCTL_FIELD_REQUIRED,
	 .words = kinds,
	 .doc = "what it offers"},
	{.key = "library",
	 .kind = PCTL_FIELD_STRING,
	 .flags = PCTL_FIELD_REQUIRED,
	 .doc = "the shared object; relative to this file's directory"},
	{.key = "sha256",
	 .kind = PCTL_FIELD_STRING,
	 .check = check_sha256,
	 .doc = "pins the library's bytes"},
	{.key = "abi",
	 .kind = PCTL_FIELD_GROUP,
	 .flags = PCTL_FIELD_REQUIRED,
	 .group = &abi_schema,
	 .doc = "ABI versions it works with"},
	{.key = "interfaces",
	 .kind = PCTL_FIELD_LIST,
	 .flags = PCTL_FIELD_REQUIRED,
	 .element = &text_element,
	 .min = 1,
	 .max = 8,
	 .doc = "interfaces it hands out"},
	{.key = "ops",
	 .kind = PCTL_FIELD_LIST,
	 .element = &op_element,
	 .max = 4096,
	 .doc = "op libraries: all ops, as NAME@VERSION"},
	{.key = "devices",
	 .kind = PCTL_FIELD_LIST,
	 .element = &text_element,
	 .max = 64,
	 .doc = "backends with fixed devices: their names"},
	{.key = "drivers",
	 .kind = PCTL_FIELD_CHOICE,
	 .words = drivers,
	 .default_text = "none",
	 .doc = "which loader's drivers the backend runs on, each in a process of its own"},
	{.key = "drivers_extra",
	 .kind = PCTL_FIELD_LIST,
	 .element = &text_element,
	 .max = 64,
	 .doc = "driver files to use besides the system's, where they exist"},
	{.key = "driver_settings",
	 .kind = PCTL_FIELD_LIST,
	 .element = &setting_element,
	 .max = 64,
	 .doc = "environment that single drivers need"},
	{.key = "isolation",
	 .kind = PCTL_FIELD_CHOICE,
	 .words = isolations,
	 .default_text = "worker",
	 .doc = "where it runs"},
	{.key = "in_process",
	 .kind = PCTL_FIELD_BOOL,
	 .default_text = "false",
	 .doc = "a backend that may run inside the host with --in-process"},
	{.key = "roles",
	 .kind = PCTL_FIELD_LIST,
	 .element = &role_element,
	 .max = 3,
	 .doc = "what a backend is for: reference (believed only of files this pipectl or the "
		"policy "
		"knows), synthetic (goes wrong on purpose: told which job a call belongs to, never "
		"evidence, used only when named), inert (runs no program)"},
	{.key = "selects",
	 .kind = PCTL_FIELD_CHOICE,
	 .words = selects,
	 .default_text = "device",
	 .doc = "what stands behind ID: in a selector: a device, a script for the backend, which "
		"is "
		"then used only when named, or a script that may name another backend's device "
		"(layer)"},
	{.key = "readable",
	 .kind = PCTL_FIELD_LIST,
	 .element = &text_element,
	 .max = 32,
	 .doc = "absolute paths of files and folders that its confined worker may read, besides "
		"the system's"},
	{.key = "calls",
	 .kind = PCTL_FIELD_LIST,
	 .element = &call_element,
	 .max = 32,
	 .doc = CALLS_DOC},
	{.key = "programs",
	 .kind = PCTL_FIELD_LIST,
	 .element = &program_element,
	 .max = 16,
	 .doc = PROGRAMS_DOC},
	{.key = "environment",
	 .kind = PCTL_FIELD_LIST,
	 .element = &name_element,
	 .max = 32,
	 .doc = "variables of pipectl's environment that its worker gets, besides the fixed ones"},
};
static const pctl_conf_schema plugin_schema = PCTL_CONF_SCHEMA("a plugin", plugin_fields);
static const pctl_conf_field file_fields[] = {
	{.key = "plugin",
	 .kind = PCTL_FIELD_GROUP,
	 .flags = PCTL_FIELD_REQUIRED,
	 .group = &plugin_schema,
	 .doc = "the plugin"},
};
static const pctl_conf_schema file_schema = PCTL_CONF_SCHEMA("a plugin manifest", file_fields);

static uint32_t choice(const pctl_conf_value *g, const char *key, const char *const *words,
		       uint32_t fallback)
{
	const char *text = pctl_conf_string_or(g, key, NULL);
	uint32_t i;

	for (i = 0; text && words[i]; i++)
		if (!strcmp(text, words[i]))
			return i;
	return fallback;
}

/* The texts of a list, in the arena; NULL with *n = 0 when there are none or no memory. */
static const char *const *texts(pctl_arena *a, const pctl_conf_value *list, uint32_t *n)
{
	const char **out;
	uint32_t i;

	*n = 0;
	if (!list || !list->n_items)
		return NULL;
	out = pctl_arena_array(a, list->n_items, sizeof(*out));
	if (!out)
		return NULL;
	for (i = 0; i < list->n_items; i++) {
		out[i] = pctl_arena_dup(a, list->items[i]->text);
		if (!out[i])
			return NULL;
	}
	*n = list->n_items;
	return out;
}

const char *pctl_role_name(uint32_t i)
{
	return i < PCTL_N_ROLES ? roles[i] : "?";
}

static uint32_t read_roles(const pctl_conf_value *list)
{
	uint32_t found = 0;

	for (uint32_t i = 0; list && i < list->n_items; i++)
		for (uint32_t k = 0; roles[k]; k++)
			if (!strcmp(list->items[i]->text, roles[k]))
				found |= 1u << k;
	return found;
}

static int read_ops(pctl_arena *a, const pctl_conf_value *list, pctl_plugin_info *info)
{
	pctl_op_name *ops;
	uint32_t i;

	if (!list || !list->n_items)
		return 1;
	ops = pctl_arena_array(a, list->n_items, sizeof(*ops));
	if (!ops)
		return 0;
	for (i = 0; i < list->n_items; i++) {
		const size_t n = split_op(list->items[i]->text, &ops[i].version);

		ops[i].name = pctl_arena_dup_n(a, list->items[i]->text, n);
		if (!ops[i].name)
			return 0;
	}
	info->ops = ops;
	info->n_ops = list->n_items;
	return 1;
}

static int read_settings(pctl_arena *a, const pctl_conf_value *list, known_plugin *p)
{
	driver_setting *all;
	uint32_t i;

	if (!list || !list->n_items)
		return 1;
	all = pctl_arena_array(a, list->n_items, sizeof(*all));
	if (!all)
		return 0;
	for (i = 0; i < list->n_items; i++) {
		all[i].driver =
			pctl_arena_dup(a, pctl_conf_string_or(list->items[i], "driver", ""));
		all[i].set = texts(a, pctl_conf_get(list->items[i], "set"), &all[i].n_set);
		all[i].calls = texts(a, pctl_conf_get(list->items[i], "calls"), &all[i].n_calls);
		all[i].programs =
			texts(a, pctl_conf_get(list->items[i], "programs"), &all[i].n_programs);
		if (!all[i].driver)
			return 0;
	}
	p->settings = all;
	p->n_settings = list->n_items;
	return 1;
}

static const char *library_path(pctl_arena *a, const char *manifest, const char *library)
{
	char *copy, *dir;

	if (library[0] == '/')
		return pctl_arena_dup(a, library);
	copy = pctl_arena_dup(a, manifest);
	if (!copy)
		return NULL;
	dir = dirname(copy);
	return pctl_arena_printf(a, "%s/%s", dir, library);
}

static pctl_status read_fields(pctl_registry *r, const pctl_conf_value *g, known_plugin *p,
			       const pctl_call *call)
{
	pctl_plugin_info *info = &p->info;
	const pctl_conf_value *abi = pctl_conf_get(g, "abi"), *v;
	pctl_arena *a = r->arena;
	const char *want;
	uint32_t i;

	info->id = pctl_arena_dup(a, pctl_conf_string_or(g, "id", ""));
	info->about = pctl_arena_dup(a, pctl_conf_string_or(g, "about", NULL));
	info->kind = PCTL_PLUGIN_BACKEND + choice(g, "kind", kinds, 0);
	info->library = library_path(a, info->manifest, pctl_conf_string_or(g, "library", ""));
	p->pinned_sha256 = pctl_arena_dup(a, pctl_conf_string_or(g, "sha256", NULL));
	parse_version(pctl_conf_string_or(abi, "min", "1.0"), p->abi_min);
	parse_version(pctl_conf_string_or(abi, "max", "1.99999"), p->abi_max);
	info->interfaces = texts(a, pctl_conf_get(g, "interfaces"), &info->n_interfaces);
	info->devices = texts(a, pctl_conf_get(g, "devices"), &info->n_devices);
	info->drivers = PCTL_DRIVERS_NONE + choice(g, "drivers", drivers, 0);
	info->drivers_extra = texts(a, pctl_conf_get(g, "drivers_extra"), &info->n_drivers_extra);
	info->isolation = PCTL_ISOLATION_WORKER + choice(g, "isolation", isolations, 0);
	info->in_process_allowed = info->isolation == PCTL_ISOLATION_IN_PROCESS ||
				   pctl_conf_bool_or(g, "in_process", 0);
	info->roles = read_roles(pctl_conf_get(g, "roles"));
	info->selects = PCTL_SELECTS_DEVICE + choice(g, "selects", selects, 0);
	p->readable = texts(a, pctl_conf_get(g, "readable"), &p->n_readable);
	p->calls = texts(a, pctl_conf_get(g, "calls"), &p->n_calls);
	p->programs = texts(a, pctl_conf_get(g, "programs"), &p->n_programs);
	p->environment = texts(a, pctl_conf_get(g, "environment"), &p->n_environment);
	if (!info->id || !info->library || !read_ops(a, pctl_conf_get(g, "ops"), info) ||
	    !read_settings(a, pctl_conf_get(g, "driver_settings"), p))
		return pctl_no_memory(call, info->manifest);

	want = info->kind == PCTL_PLUGIN_BACKEND ? PCTL_BACKEND_INTERFACE : PCTL_OPLIB_INTERFACE;
	for (i = 0; i < info->n_interfaces && strcmp(info->interfaces[i], want); i++)
		;
	v = pctl_conf_get(g, "interfaces");
	if (i == info->n_interfaces)
		return pctl_refuse_at(call, PC3001_PLUGIN_MANIFEST, &v->pos, NULL,
				      "kind \"%s\" needs the interface \"%s\"",
				      kinds[info->kind - PCTL_PLUGIN_BACKEND], want);
	if (info->kind == PCTL_PLUGIN_OPLIB && !info->n_ops)
		return pctl_refuse_at(
			call, PC3001_PLUGIN_MANIFEST, &g->pos, NULL,
			"an op library promises its ops: the key \"ops\" is missing or empty");
	if (info->kind == PCTL_PLUGIN_BACKEND && info->n_ops) {
		v = pctl_conf_get(g, "ops");
		return pctl_refuse_at(call, PC3001_PLUGIN_MANIFEST, &v->key_pos, NULL,
				      "a backend has no ops");
	}
	v = pctl_conf_get(g, info->roles ? "roles" : "selects");
	if (info->kind != PCTL_PLUGIN_BACKEND && (info->roles || info->selects))
		return pctl_refuse_at(call, PC3001_PLUGIN_MANIFEST, &v->key_pos, NULL,
				      "an op library has no devices: the key \"%s\" is of backends",
				      info->roles ? "roles" : "selects");
	return PCTL_OK;
}

static pctl_status read_file(pctl_registry *r, known_plugin *p, const pctl_call *call)
{
	const pctl_conf_value *root;
	pctl_conf *c = NULL;
	pctl_status s = pctl_conf_read_file(p->info.manifest, call, &c);

	if (s)
		return s;
	root = pctl_conf_root(c);
	s = pctl_conf_check(root, &file_schema, call);
	if (!s)
		s = read_fields(r, pctl_conf_get(root, "plugin"), p, call);
	pctl_conf_destroy(c);
	return s;
}

/* The file's name without directory and suffix stands in for an id that cannot be read. */
static const char *name_of(pctl_arena *a, const char *path)
{
	const char *base = strrchr(path, '/');
	size_t n;

	base = base ? base + 1 : path;
	n = strlen(base);
	if (n > strlen(SUFFIX) && !strcmp(base + n - strlen(SUFFIX), SUFFIX))
		n -= strlen(SUFFIX);
	return pctl_arena_dup_n(a, base, n);
}

known_plugin *pctl_plugin_manifest(pctl_registry *r, const char *path)
{
	known_plugin *p = pctl_arena_alloc(r->arena, sizeof(*p));
	pctl_diag_list *l = pctl_diag_list_create();
	uint32_t code;

	if (!p || !l) {
		p = NULL;
		goto out;
	}
	p->sealed_fd = -1;
	p->info.manifest = pctl_arena_dup(r->arena, path);
	p->info.id = name_of(r->arena, path);
	if (!p->info.manifest || !p->info.id) {
		p = NULL;
		goto out;
	}
	p->info.state = PCTL_PLUGIN_USABLE;
	p->info.who = p->info.manifest;
	if (read_file(r, p, pctl_diag_list_call(l))) {
		const char *why = pctl_plugin_first_error(r->arena, l, &code);

		pctl_plugin_refuse(r, p, code, p->info.manifest, why);
		if (!p->info.id || !p->info.id[0])
			p->info.id = name_of(r->arena, path);
	}
out:
	pctl_diag_list_destroy(l);
	return p;
}
