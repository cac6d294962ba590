/* What drivers said of their devices, remembered as rows, one a device. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "foundation/base/hex.h"
#include "foundation/base/num.h"
#include "foundation/base/str.h"
#include "foundation/base/vec.h"
#include "runtime/plugin/devices_private.h"

/* Which question it answers, and a device; of a driver without devices index and kind are PCTL_DEVICES_NO_INDEX and the rest is "". */
typedef struct device_row {
	const char *plugin, *library, *driver, *identity, *name, *version, *caps;
	uint32_t index, kind;
} device_row;

static void print_index(const void *member, char *out)
{
	const uint32_t i = *(const uint32_t *)member;

	if (i == PCTL_DEVICES_NO_INDEX)
		strcpy(out, "-");
	else
		sprintf(out, "%u", i);
}

static void print_kind(const void *member, char *out)
{
	print_index(member, out);
	out[strcspn(out, "-")] = '\0';
}

static int parse_index(const char *text, void *member)
{
	uint64_t i = PCTL_DEVICES_NO_INDEX;
	const int none = !*text || !strcmp(text, "-");
	const int good =
		none || (pctl_num_parse_u64(text, strlen(text), &i) && i < PCTL_DEVICES_NO_INDEX);

	*(uint32_t *)member = none ? PCTL_DEVICES_NO_INDEX : (uint32_t)i;
	return good;
}

static const pctl_record_coding index_word = {"a number or \"-\"", print_index, parse_index};
static const pctl_record_coding kind_word = {"a number or nothing", print_kind, parse_index};

#define FIELD(KIND, M, ...) PCTL_RECORD_FIELD(KIND, #M, device_row, M, __VA_ARGS__)
static const pctl_record_field fields[] = {
	FIELD(TEXT, plugin, .means = "its id"),
	FIELD(TEXT, library, .means = "SHA-256 of the plugin"),
	FIELD(TEXT, driver, .means = "key of it"),
	FIELD(TEXT, identity, .means = "of driver, device nodes and system: is it the same"),
	FIELD(CODED, index, .coding = &index_word, .means = "in the driver; `-`: it has no device"),
	FIELD(TEXT, name, .means = "of the device"),
	FIELD(TEXT, version, .means = "name of the driver"),
	FIELD(CODED, kind, .coding = &kind_word, .means = "`PCTL_DEVICE_*`, as claimed"),
	FIELD(TEXT, caps, .means = "`pctl_device_caps` as hex")};
PCTL_KEPT(devices, device_row, fields, "pipectl devices 1", PC3031_PLUGIN_STORE,
	  "Devices of drivers", "`cache/devices.tsv` in pipectl's home; a damaged one is none");

static device_row *row_at(const pctl_devices *d, uint32_t i)
{
	return &((device_row *)(void *)d->rows.rows)[i];
}

static const char *stat_text(pctl_arena *a, const char *path)
{
	struct stat st;

	if (!path || stat(path, &st) < 0)
		return "-";
	return pctl_arena_printf(a, "%lld.%09ld.%lld", (long long)st.st_mtim.tv_sec,
				 st.st_mtim.tv_nsec, (long long)st.st_size);
}

const char *pctl_devices_identity(pctl_devices *d, const pctl_driver_env *env)
{
	pctl_str_buf b = PCTL_STR_BUF_INIT;
	const char *out;
	uint32_t i;
	char *text;

	pctl_str_addf(&b, "%s %s %s %s %s", PIPECTL_VERSION, stat_text(d->arena, env->file),
		      stat_text(d->arena, "/dev/dri"), stat_text(d->arena, "/dev/nvidiactl"),
		      d->boot);
	for (i = 0; i < env->n_set; i++)
		pctl_str_addf(&b, " %s", env->set[i]);
	text = pctl_str_finish(&b);
	out = pctl_arena_dup(d->arena, text);
	free(text);
	return out;
}

static const char *caps_text(pctl_arena *a, const pctl_device_caps *c)
{
	char *text = pctl_arena_alloc(a, 2 * sizeof(*c) + 1);

	return text == NULL ? NULL : pctl_hex_print(c, sizeof(*c), text);
}

static int caps_parse(const char *text, pctl_device_caps *c)
{
	return pctl_hex_is(text, 2 * sizeof(*c)) && pctl_hex_parse(text, sizeof(*c), c) &&
	       c->head.size == sizeof(*c) && c->head.major == PCTL_ABI_MAJOR;
}

static int row_is(const device_row *row, const pctl_plugin_info *p, const pctl_driver_env *env)
{
	return !strcmp(row->plugin, p->id) && !strcmp(row->driver, env->key);
}

int pctl_devices_recall(pctl_devices *d, const pctl_plugin_info *p, const pctl_driver_env *env,
			const char *ident)
{
	const uint32_t before = d->n;
	uint32_t i, found = 0;

	for (i = 0; i < d->rows.n; i++) {
		const device_row *row = row_at(d, i);
		pctl_device_entry e = {.backend = p->id, .env = env, .state = PCTL_DEVICE_USABLE};

		if (!row_is(row, p, env))
			continue;
		if (strcmp(row->identity, ident) || strcmp(row->library, p->sha256))
			return 0;
		found = 1;
		if (row->index == PCTL_DEVICES_NO_INDEX)
			continue;
		if (row->index >= PCTL_DEVICES_MAX || row->kind > PCTL_DEVICE_DISCRETE ||
		    !caps_parse(row->caps, &e.caps)) {
			d->n = before;
			return 0;
		}
		e.name = row->name;
		e.driver = row->version;
		e.in_driver = row->index;
		e.claimed = row->kind;
		e.kind = pctl_device_kind(p, e.claimed);
		e.roles = pctl_device_roles(p, e.claimed);
		if (!pctl_devices_add(d, &e))
			return 0;
	}
	return (int)found;
}

void pctl_devices_forget(pctl_devices *d, const pctl_plugin_info *p, const pctl_driver_env *env)
{
	uint32_t i = 0;

	while (i < d->rows.n) {
		if (row_is(row_at(d, i), p, env)) {
			pctl_kept_remove(&d->rows, i);
			d->changed = 1;
		} else {
			i++;
		}
	}
}

void pctl_devices_remember(pctl_devices *d, const pctl_plugin_info *p, const pctl_driver_env *env,
			   const char *ident, uint32_t first)
{
	uint32_t i;

	for (i = first; i < d->n || i == first; i++) {
		const pctl_device_entry *e = i < d->n ? &d->entries[i] : NULL;
		device_row row = {.plugin = p->id,
				  .library = p->sha256,
				  .driver = env->key,
				  .identity = ident,
				  .index = PCTL_DEVICES_NO_INDEX,
				  .kind = PCTL_DEVICES_NO_INDEX};

		if (e) {
			row.index = e->in_driver;
			row.name = e->name;
			row.version = e->driver;
			row.kind = e->claimed;
			row.caps = caps_text(d->arena, &e->caps);
		}
		/* Half a list would be believed whole: without memory the driver is asked again. */
		if ((e && !row.caps) || !pctl_kept_add(&d->rows, &row)) {
			pctl_devices_forget(d, p, env);
			break;
		}
	}
	d->changed = 1;
}
