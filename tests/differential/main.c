/* The differential fuzzer: kept regressions first, then programs from seeds, each on every device;
 * what fails is made small and written down. */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "foundation/base/file.h"
#include "foundation/base/str.h"
#include "evidence/suite/gen.h"
#include "shrink.h"
#include "state.h"

#define LARGEST_FILE (1u << 20)
#define SAVE_EVERY 5u
#define FRESH_EVERY \
	500u /* cases with one set of sessions: what is built stays in memory until they close */
#define MOST_SHRUNK 3u /* failures made small; a device that fails always would shrink for days */

struct options {
	diff_state state; /* what is asked for; how far it is */
	double seconds;	  /* 0: no limit */
	double shrink;	  /* seconds for each failure */
	const char *out, *regressions, *state_file;
	const char *devices[RIG_DEVICES];
	uint32_t n_devices;
	const char *home;
	uint32_t shrunk;
	int plant, plant_twin, print, large, subgroups, tiles, barriers, exits;
};

static double seconds_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int usage(void)
{
	fputs("differential [--seed S] [--cases N] [--seconds T] [--devices A,B/N,..] [--out DIR]\n"
	      "             [--regressions DIR] [--shrink T] [--plant] [--plant-twin] [--print]\n"
	      "             [--floats] [--large] [--subgroups] [--tiles] [--barriers] "
	      "[--exits]\n"
	      "             [--profiles HOME] [--shard K/N] "
	      "[--state FILE]\n"
	      "  --shard K/N (1/N .. N/N): every N-th case; --state FILE: where a run that ended "
	      "goes on\n"
	      "  devices are named as pipectl names them (\"vulkan:llvmpipe\"); /N: every N-th "
	      "case\n",
	      stderr);
	return 2;
}

static int shard_of(const char *text, diff_state *s)
{
	char *end;
	const unsigned long k = strtoul(text, &end, 10);
	const unsigned long n = *end == '/' ? strtoul(end + 1, &end, 10) : 0;

	s->shard = (uint32_t)(k - 1);
	s->shards = (uint32_t)n;
	return *end == '\0' && k >= 1 && k <= n && n <= 4096;
}

static int parse(int argc, char **argv, struct options *o)
{
	for (int i = 1; i < argc; i++) {
		char *value = i + 1 < argc ? argv[i + 1] : NULL;

		if (strcmp(argv[i], "--plant") == 0) {
			o->plant = 1;
			continue;
		}
		if (strcmp(argv[i], "--plant-twin") == 0) {
			o->plant_twin = 1;
			continue;
		}
		if (strcmp(argv[i], "--floats") == 0) {
			o->state.floats = 1;
			continue;
		}
		if (strcmp(argv[i], "--subgroups") == 0) {
			o->subgroups = 1;
			continue;
		}
		if (strcmp(argv[i], "--tiles") == 0) {
			o->tiles = 1;
			continue;
		}
		if (strcmp(argv[i], "--barriers") == 0) {
			o->barriers = 1;
			continue;
		}
		if (strcmp(argv[i], "--exits") == 0) {
			o->exits = 1;
			continue;
		}
		if (strcmp(argv[i], "--large") == 0) {
			o->large = 1;
			continue;
		}
		if (strcmp(argv[i], "--print") == 0) {
			o->print = 1;
			continue;
		}
		if (value == NULL)
			return 0;
		i++;
		if (strcmp(argv[i - 1], "--seed") == 0)
			o->state.seed = strtoull(value, NULL, 0);
		else if (strcmp(argv[i - 1], "--cases") == 0)
			o->state.cases = strtoull(value, NULL, 0);
		else if (strcmp(argv[i - 1], "--state") == 0)
			o->state_file = value;
		else if (strcmp(argv[i - 1], "--shard") == 0) {
			if (!shard_of(value, &o->state))
				return 0;
		} else if (strcmp(argv[i - 1], "--seconds") == 0)
			o->seconds = strtod(value, NULL);
		else if (strcmp(argv[i - 1], "--shrink") == 0)
			o->shrink = strtod(value, NULL);
		else if (strcmp(argv[i - 1], "--out") == 0)
			o->out = value;
		else if (strcmp(argv[i - 1], "--regressions") == 0)
			o->regressions = value;
		else if (strcmp(argv[i - 1], "--profiles") == 0)
			o->home = value;
		else if (strcmp(argv[i - 1], "--devices") == 0) {
			char *save = NULL;

			for (char *s = strtok_r(value, ",", &save);
			     s != NULL && o->n_devices < RIG_DEVICES;
			     s = strtok_r(NULL, ",", &save))
				o->devices[o->n_devices++] = s;
		} else
			return 0;
	}
	return 1;
}

static void report(const rig *r, const char *name, const rig_verdict *v)
{
	printf("FAILED %s: %s on %s: %s\n", name, rig_kind_name(v->kind), r->device[v->device].name,
	       v->message);
	fflush(stdout);
}

/* ---- regressions ------------------------------------------------------------------------------
 */

static int is_wgsl(const struct dirent *e)
{
	size_t n = strlen(e->d_name);

	return n > 5 && strcmp(e->d_name + n - 5, ".wgsl") == 0;
}

static uint32_t replay(rig *r, const char *dir, uint32_t *n_failed)
{
	struct dirent **names = NULL;
	int n = scandir(dir, &names, is_wgsl, alphasort);
	uint32_t done = 0;

	for (int i = 0; i < n; i++) {
		char *path = pctl_path_join(dir, names[i]->d_name), *text = NULL;
		uint64_t n_text;
		rig_verdict v = {.kind = RIG_HEADER, .message = "it has no dispatch"};
		diff_case c;

		if (pctl_file_read(path, LARGEST_FILE, NULL, &text, &n_text) == PCTL_OK &&
		    diff_case_read(&c, names[i]->d_name, text))
			rig_run(r, &c, UINT32_MAX, &v);
		if (v.kind != RIG_SAME) {
			report(r, names[i]->d_name, &v);
			++*n_failed;
		}
		done++;
		free(text);
		free(path);
		free(names[i]);
	}
	free(names);
	return done;
}

/* ---- generated programs -----------------------------------------------------------------------
 */

static void write_down(const struct options *o, const rig *r, uint64_t seed, const node *program,
		       const rig_verdict *v)
{
	char *text = node_text(program), *path, name[64];
	pctl_str_buf file = PCTL_STR_BUF_INIT;

	pctl_str_addf(&file, "// seed %" PRIu64 ": %s on %s\n// %s\n", seed, rig_kind_name(v->kind),
		      r->device[v->device].name, v->message);
	pctl_str_add(&file, text);
	free(text);
	if (o->out == NULL) {
		printf("%s\n", file.data);
	} else {
		snprintf(name, sizeof(name), "seed-%" PRIu64 "-%s.wgsl", seed,
			 rig_kind_name(v->kind));
		path = pctl_path_join(o->out, name);
		if (pctl_file_make_dirs(o->out, NULL) != PCTL_OK ||
		    pctl_file_write(path, file.data, file.n, 0, NULL) != PCTL_OK)
			printf("%s cannot be written:\n%s\n", path, file.data);
		else
			printf("written to %s\n", path);
		free(path);
	}
	pctl_str_drop(&file);
}

/* 1 when it failed. */
static int one_case(rig *r, struct options *o, uint64_t i)
{
	uint64_t seed = o->state.seed + i;
	pctl_arena *a = pctl_arena_create();
	/* Every other pair of seeds has pointers, and a twin without. */
	const uint32_t flags =
		o->exits ? GEN_EXITS
			 : (o->state.floats || seed % 2 == 1 ? GEN_FLOATS : 0) |
				   (o->subgroups ? GEN_SUBGROUPS : 0) | (o->tiles ? GEN_TILES : 0) |
				   (o->tiles && o->state.floats ? GEN_FLOAT_TILES : 0) |
				   (o->barriers		? GEN_BARRIERS
				    : o->large		? GEN_LARGE
				    : seed / 2 % 2 == 1 ? GEN_POINTERS
							: 0);
	node *program = gen_program(a, seed, flags);
	char *text = node_text(program), *twin = NULL, name[40];
	rig_verdict v = {.kind = RIG_HEADER};
	diff_case c;

	snprintf(name, sizeof(name), "seed %" PRIu64, seed);
	if (flags & GEN_POINTERS)
		twin = node_text(gen_program(
			a, seed, flags | GEN_IN_PLACE | (o->plant_twin ? GEN_TWICE : 0)));
	if (o->print)
		printf("%s\n%s%s", text, twin == NULL ? "" : "// its twin:\n",
		       twin == NULL ? "" : twin);
	if (diff_case_read(&c, name, text)) {
		c.twin = twin;
		rig_run(r, &c, rig_mask(r, i), &v);
	}
	if (v.kind != RIG_SAME) {
		report(r, name, &v);
		if (o->shrink > 0 && v.kind != RIG_REFUSED && v.kind != RIG_TWIN &&
		    o->shrunk++ < MOST_SHRUNK) {
			rig_device counted[RIG_DEVICES];
			uint32_t tried;

			/* what was tried on the way is no case */
			memcpy(counted, r->device, sizeof(counted));
			tried = diff_shrink(r, a, program, o->shrink, &v);
			for (uint32_t k = 0; k < r->n_devices; k++) {
				r->device[k].executed = counted[k].executed;
				r->device[k].differed = counted[k].differed;
				r->device[k].crashed = counted[k].crashed;
				r->device[k].refused = counted[k].refused;
				r->device[k].failed = counted[k].failed;
				r->device[k].ns = counted[k].ns;
			}
			printf("made smaller in %" PRIu32 " tries\n", tried);
			report(r, name, &v);
		}
		write_down(o, r, seed, program, &v);
	}
	free(text);
	free(twin);
	pctl_arena_destroy(a);
	return v.kind != RIG_SAME;
}

/* The cases of the shard from where it stands, until time is up. 0: the state could not be kept. */
static int run_cases(rig *r, struct options *o, double began)
{
	diff_state *s = &o->state;
	uint32_t since = 0;
	int kept = 1;

	if (s->next < s->shard)
		s->next = s->shard;
	for (; s->next < s->cases && kept; s->next += s->shards) {
		if (o->seconds > 0 && seconds_now() - began > o->seconds)
			break;
		if (since != 0 && since % FRESH_EVERY == 0 && !rig_fresh(r))
			return 0;
		s->failed += (uint32_t)one_case(r, o, s->next);
		s->done++;
		if (o->state_file != NULL && ++since % SAVE_EVERY == 0) {
			diff_state now = *s;

			now.next += s->shards;
			kept = diff_state_write(o->state_file, &now, r);
		} else if (o->state_file == NULL) {
			since++;
		}
	}
	return kept && (o->state_file == NULL || diff_state_write(o->state_file, s, r));
}

static int summary(const rig *r, const diff_state *s, uint32_t regressions, int large)
{
	int idle = 0;

	for (uint32_t i = 0; i < r->n_devices; i++) {
		const rig_device *d = &r->device[i];

		printf("%6" PRIu32 " cases, %6" PRIu32 " differ, %7.1f ms each: %s\n", d->executed,
		       d->differed, d->executed == 0 ? 0.0 : (double)d->ns / d->executed * 1e-6,
		       d->name);
		if (d->crashed != 0)
			printf("%6" PRIu32 " crashes of this driver, no result\n", d->crashed);
		if (d->refused + d->failed != 0)
			printf("%6" PRIu32 " refused as too large for it, %" PRIu32
			       " without a result\n",
			       d->refused, d->failed);
		/* Of large programs a device may refuse half. */
		idle |= d->executed == 0 ||
			d->crashed + d->refused > d->executed / (large ? 1 : 4) + 2;
	}
	if (r->n_unproven != 0)
		printf("%" PRIu32 " too large for the analysis, not run\n", r->n_unproven);
	if (r->n_twins != 0)
		printf("%" PRIu32 " held against a twin without pointers\n", r->n_twins);
	for (uint32_t i = 0; i < RIG_PRICELESS; i++)
		if (r->n_priceless[i] != 0)
			printf("%" PRIu32 " without a price under consensus-2: PC%04" PRIu32 "\n",
			       r->n_priceless[i], rig_priceless[i]);
	idle |= r->n_unproven > s->done / 4;
	printf("%" PRIu32 " regressions, %" PRIu32 " generated, %" PRIu64
	       " gas estimates held, %" PRIu32 " failed\n",
	       regressions, s->done, r->gas_checked, s->failed);
	if (s->next < s->cases)
		printf("ended before case %" PRIu64 " of %" PRIu64 "\n", s->next, s->cases);
	if (idle)
		printf("a device executed nothing, or crashed or refused too often\n");
	return s->failed != 0 || idle || s->done + regressions == 0;
}

int main(int argc, char **argv)
{
	struct options o = {.state = {.seed = 1, .cases = 100, .shards = 1},
			    .shrink = 45,
			    .regressions = PIPECTL_REGRESSIONS};
	double began = seconds_now();
	uint32_t regressions = 0;
	int status = 1;
	rig r;

	if (!parse(argc, argv, &o))
		return usage();
	if (rig_open(&r, o.home, o.devices, o.n_devices) &&
	    (o.state_file == NULL || diff_state_read(o.state_file, &o.state, &r))) {
		r.plant = o.plant;
		r.large = (uint32_t)o.large;
		began = seconds_now();
		/* What goes on has replayed them before. */
		if (o.state.next == 0)
			regressions = replay(&r, o.regressions, &o.state.failed);
		status = !run_cases(&r, &o, began);
		printf("seed %" PRIu64 ", %.1f s\n", o.state.seed, seconds_now() - began);
		status |= summary(&r, &o.state, regressions, o.large);
	}
	rig_close(&r);
	return status;
}
