/* Reading and writing the file of state.h: two lines of the run, one a device. */
#include "state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/file.h"
#include "foundation/base/str.h"

#define LARGEST_FILE (1u << 16)

static void add_head(pctl_str_buf *t, const diff_state *s)
{
	pctl_str_addf(t,
		      "differential 2: seed %" PRIu64 " cases %" PRIu64 " floats %" PRIu32
		      " shard %" PRIu32 "/%" PRIu32 "\n",
		      s->seed, s->cases, s->floats, s->shard, s->shards);
}

static int other_run(const char *path)
{
	fprintf(stderr, "%s is of another run: other seeds, shards or devices\n", path);
	return 0;
}

/* `device EXECUTED DIFFERED CRASHED REFUSED FAILED NS NAME`, in the order of the rig. */
static int read_device(const char **at, rig_device *d)
{
	const size_t n = strlen(d->name);
	uint32_t executed, differed, crashed, refused, failed;
	const char *name;
	uint64_t ns;
	int used = 0;

	if (sscanf(*at,
		   "device %" SCNu32 " %" SCNu32 " %" SCNu32 " %" SCNu32 " %" SCNu32 " %" SCNu64
		   " %n",
		   &executed, &differed, &crashed, &refused, &failed, &ns, &used) != 6)
		return 0;
	name = *at + used;
	if (strncmp(name, d->name, n) != 0 || name[n] != '\n')
		return 0;
	d->executed = executed;
	d->differed = differed;
	d->crashed = crashed;
	d->refused = refused;
	d->failed = failed;
	d->ns = ns;
	*at = name + n + 1;
	return 1;
}

int diff_state_read(const char *path, diff_state *s, rig *r)
{
	pctl_str_buf head = PCTL_STR_BUF_INIT;
	char *text = NULL;
	const char *at;
	uint64_t n;
	int used = 0, ok;

	if (!pctl_file_exists(path))
		return 1;
	add_head(&head, s);
	if (pctl_file_read(path, LARGEST_FILE, NULL, &text, &n) != PCTL_OK)
		return other_run(path);
	ok = strncmp(text, head.data, head.n) == 0;
	at = text + (ok ? head.n : 0);
	ok = ok &&
	     sscanf(at, "next %" SCNu64 " done %" SCNu32 " failed %" SCNu32 " gas %" SCNu64 "\n%n",
		    &s->next, &s->done, &s->failed, &r->gas_checked, &used) == 4;
	at += used;
	for (uint32_t i = 0; ok && i < r->n_devices; i++)
		ok = read_device(&at, &r->device[i]);
	ok = ok && *at == '\0';
	pctl_str_drop(&head);
	free(text);
	return ok ? 1 : other_run(path);
}

int diff_state_write(const char *path, const diff_state *s, const rig *r)
{
	pctl_str_buf t = PCTL_STR_BUF_INIT;
	int ok;

	add_head(&t, s);
	pctl_str_addf(&t, "next %" PRIu64 " done %" PRIu32 " failed %" PRIu32 " gas %" PRIu64 "\n",
		      s->next, s->done, s->failed, r->gas_checked);
	for (uint32_t i = 0; i < r->n_devices; i++)
		pctl_str_addf(&t,
			      "device %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32
			      " %" PRIu64 " %s\n",
			      r->device[i].executed, r->device[i].differed, r->device[i].crashed,
			      r->device[i].refused, r->device[i].failed, r->device[i].ns,
			      r->device[i].name);
	ok = !t.failed && pctl_file_write(path, t.data, t.n, 0, NULL) == PCTL_OK;
	if (!ok)
		fprintf(stderr, "%s cannot be written\n", path);
	pctl_str_drop(&t);
	return ok;
}
