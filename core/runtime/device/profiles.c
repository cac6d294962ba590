/* Implementation of profiles.h: directories, trust, revocation. */
#include "runtime/device/profiles.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "foundation/base/arena.h"
#include "foundation/base/file.h"
#include "foundation/base/clock.h"
#include "foundation/base/order.h"

#define TRUSTED_MAX 256u
#define CERTS_MAX 8u
#define CAUSE_LIMIT 4096u

struct pctl_profiles {
	pctl_profiles_options o;
	pctl_arena *arena;
	pctl_signer *signer;
	pctl_softfloat *forms;
	const char *dirs[CERTS_MAX + 1]; /* of profiles; the home's first */
	uint32_t n_dirs;
	const char *trusted[TRUSTED_MAX];
	uint32_t n_trusted;
	int ready;
};

pctl_status pctl_profiles_open(const pctl_profiles_options *o, const pctl_call *call,
			       pctl_profiles **out)
{
	pctl_profiles *p = calloc(1, sizeof(*p));
	pctl_arena *arena = pctl_arena_create();
	const char **certs =
		arena == NULL ? NULL : pctl_arena_array(arena, o->n_certs, sizeof(*certs));

	*out = NULL;
	if (p == NULL || certs == NULL) {
		free(p);
		pctl_arena_destroy(arena);
		return pctl_no_memory(call, "profiles");
	}
	p->o = *o;
	p->arena = arena;
	p->o.home = pctl_arena_dup(arena, o->home);
	if (p->o.n_certs > CERTS_MAX)
		p->o.n_certs = CERTS_MAX;
	for (uint32_t i = 0; i < p->o.n_certs; i++)
		certs[i] = pctl_arena_dup(arena, o->certs[i]);
	p->o.certs = certs;
	*out = p;
	return PCTL_OK;
}

void pctl_profiles_close(pctl_profiles *p)
{
	if (p == NULL)
		return;
	pctl_signer_close(p->signer);
	pctl_softfloat_destroy(p->forms);
	pctl_arena_destroy(p->arena);
	free(p);
}

/* ---- trust -------------------------------------------------------------------------------- */

/* One public key file: 64 hex digits and a newline. Anything else is no key. */
static void trust_file(pctl_profiles *p, const char *path)
{
	const pctl_call quiet = {.head = PCTL_HEAD(pctl_call)};
	uint64_t n = 0;
	char *text;

	if (p->n_trusted == TRUSTED_MAX ||
	    pctl_file_read(path, CAUSE_LIMIT, &quiet, &text, &n) != PCTL_OK)
		return;
	text[strcspn(text, "\r\n")] = '\0';
	if (strlen(text) == PCTL_PUBLIC_KEY_TEXT - 1) {
		const char *kept = pctl_arena_dup(p->arena, text);

		if (kept != NULL)
			p->trusted[p->n_trusted++] = kept;
	}
	free(text);
}

static void trust_directory(pctl_profiles *p, const char *dir)
{
	DIR *d = opendir(dir);
	const struct dirent *e;
	const char *names[TRUSTED_MAX];
	uint32_t n = 0;

	while (d != NULL && n < TRUSTED_MAX && (e = readdir(d)) != NULL) {
		const size_t length = strlen(e->d_name);

		if (length > 4 && strcmp(e->d_name + length - 4, ".pub") == 0)
			names[n] = pctl_arena_printf(p->arena, "%s/%s", dir, e->d_name);
		else
			continue;
		n += names[n] != NULL;
	}
	if (d != NULL)
		closedir(d);
	qsort(names, n, sizeof(*names), pctl_order_texts);
	for (uint32_t i = 0; i < n; i++)
		trust_file(p, names[i]);
}

static pctl_status make_ready(pctl_profiles *p, const pctl_call *call)
{
	const char *keys;
	pctl_status status;

	if (p->ready)
		return PCTL_OK;
	keys = pctl_arena_printf(p->arena, "%s/keys", p->o.home);
	p->dirs[0] = pctl_arena_printf(p->arena, "%s/profiles", p->o.home);
	if (keys == NULL || p->dirs[0] == NULL)
		return pctl_no_memory(call, "profiles");
	status = pctl_signer_open(keys, call, &p->signer);
	if (status != PCTL_OK)
		return status;
	p->n_dirs = 1;
	p->trusted[p->n_trusted++] = pctl_signer_public(p->signer);
	for (uint32_t i = 0; i < p->o.n_certs; i++) {
		const char *dir = pctl_arena_printf(p->arena, "%s/profiles", p->o.certs[i]);
		const char *trusted = pctl_arena_printf(p->arena, "%s/keys", p->o.certs[i]);

		if (dir == NULL || trusted == NULL)
			return pctl_no_memory(call, "profiles");
		p->dirs[p->n_dirs++] = dir;
		trust_directory(p, trusted);
	}
	p->ready = 1;
	return PCTL_OK;
}

pctl_status pctl_profiles_public_key(pctl_profiles *p, const pctl_call *call, const char **out)
{
	const pctl_status status = make_ready(p, call);

	*out = status == PCTL_OK ? pctl_signer_public(p->signer) : NULL;
	return status;
}

int pctl_profiles_trust(pctl_profiles *p, const char *key, const pctl_call *call)
{
	if (make_ready(p, call) != PCTL_OK)
		return 0;
	for (uint32_t i = 0; i < p->n_trusted; i++)
		if (strcmp(p->trusted[i], key) == 0)
			return 1;
	return 0;
}

pctl_status pctl_profiles_softfloat(pctl_profiles *p, const pctl_call *call, pctl_softfloat **out)
{
	const pctl_status status =
		p->forms == NULL ? pctl_softfloat_create(call, &p->forms) : PCTL_OK;

	*out = p->forms;
	return status;
}

/* ---- revocation --------------------------------------------------------------------------- */

static char *revocation_path(const pctl_profiles *p, const pctl_profile_record *r)
{
	char key[PCTL_CID_TEXT_SIZE];

	return pctl_arena_printf(p->arena, "%s/%s.revoked", p->dirs[0],
				 pctl_cid_format(&r->key, key));
}

int pctl_profiles_is_revoked(const pctl_profiles *p, const char *key)
{
	const char *path = pctl_arena_printf(p->arena, "%s/profiles/%s.revoked", p->o.home, key);

	return path == NULL || pctl_file_exists(path);
}

static pctl_status check_revoked(pctl_profiles *p, const pctl_profiled_device *d,
				 const pctl_profile_record *r, const pctl_call *call)
{
	const char *path = revocation_path(p, r);
	char *cause = NULL;
	uint64_t n = 0;
	pctl_status status;

	if (path == NULL)
		return pctl_no_memory(call, "profiles");
	if (!pctl_file_exists(path))
		return PCTL_OK;
	status = pctl_file_read(path, CAUSE_LIMIT, call, &cause, &n);
	if (status == PCTL_OK)
		status = pctl_refuse(call, PC4332_PROFILE_REVOKED, "%s: %s", d->name, cause);
	free(cause);
	return status;
}

pctl_status pctl_profiles_revoke(pctl_profiles *p, const pctl_profile_record *r, const char *cause,
				 const pctl_call *call)
{
	pctl_status status = make_ready(p, call);
	const char *path = status == PCTL_OK ? revocation_path(p, r) : NULL;

	if (status == PCTL_OK && path == NULL)
		return pctl_no_memory(call, "profiles");
	if (status == PCTL_OK)
		status = pctl_file_make_dirs(p->dirs[0], call);
	return status == PCTL_OK ? pctl_file_write(path, cause, strlen(cause), 1, call) : status;
}

/* HOME/profiles/checked/<profile>/<program> */
static char *checked_path(const pctl_profiles *p, const pctl_profile_record *r,
			  const pctl_cid *program)
{
	char key[PCTL_CID_TEXT_SIZE], name[PCTL_CID_TEXT_SIZE];

	return pctl_arena_printf(p->arena, "%s/checked/%s/%s", p->dirs[0],
				 pctl_cid_format(&r->key, key), pctl_cid_format(program, name));
}

int pctl_profiles_was_checked(pctl_profiles *p, const pctl_profile_record *r,
			      const pctl_cid *program)
{
	const char *path = p->ready ? checked_path(p, r, program) : NULL;

	return path != NULL && pctl_file_exists(path);
}

void pctl_profiles_note_checked(pctl_profiles *p, const pctl_profile_record *r,
				const pctl_cid *program)
{
	const pctl_call quiet = {.head = PCTL_HEAD(pctl_call)};
	char *path = p->ready ? checked_path(p, r, program) : NULL, *slash;

	if (path == NULL)
		return;
	slash = strrchr(path, '/');
	*slash = '\0';
	if (pctl_file_make_dirs(path, &quiet) != PCTL_OK)
		return;
	*slash = '/';
	(void)pctl_file_write(path, "", 0, 0, &quiet);
}

/* ---- obtaining ---------------------------------------------------------------------------- */

static void describe(const pctl_profiled_device *d, pctl_profile_record *out)
{
	memset(out, 0, sizeof(*out));
	out->n_identity = d->n_identity < PCTL_PROFILE_IDENTITY_MAX ? d->n_identity
								    : PCTL_PROFILE_IDENTITY_MAX;
	memcpy(out->identity, d->identity, out->n_identity * sizeof(*out->identity));
	snprintf(out->device, sizeof(out->device), "%s", d->device == NULL ? d->name : d->device);
	snprintf(out->driver, sizeof(out->driver), "%s", d->driver == NULL ? "" : d->driver);
	snprintf(out->files, sizeof(out->files), "%s", d->files == NULL ? "" : d->files);
	snprintf(out->drivers, sizeof(out->drivers), "%s", d->drivers == NULL ? "" : d->drivers);
}

/* Take what a claim says of this device, after the short check. PCTL_OK with *taken 0: there is none, or it does not hold. */
static pctl_status take_claim(pctl_profiles *p, const pctl_profiled_device *d,
			      const pctl_call *call, pctl_profile_record *out, int *taken)
{
	pctl_profile_record *claim = malloc(sizeof(*claim));
	char key[PCTL_CID_TEXT_SIZE], why[256];
	pctl_status status = claim == NULL ? pctl_no_memory(call, "a profile") : PCTL_OK;

	*taken = 0;
	if (status != PCTL_OK ||
	    !pctl_profile_find_claim(out, p->dirs, p->n_dirs, p->trusted, p->n_trusted, claim))
		goto out;
	status = pctl_probe_claim(d->table, d->dev, d->caps, claim, call, out, taken, why);
	pctl_cid_format(&claim->key, key);
	if (status == PCTL_OK && *taken)
		memcpy(out->claim, key, sizeof(key));
	else if (status == PCTL_OK)
		pctl_warn_at(call, PC4333_PROFILE_CLAIM, NULL, "the device is probed in full",
			     "%s: profile %s does not hold here: %s", d->name, key, why);
out:
	free(claim);
	return status;
}

/* A fresh probe begins anew with everything, and what the device was lost at is asked again. */
static void forget_optional(const pctl_profiles *p, const pctl_profile_record *r)
{
	char key[PCTL_CID_TEXT_SIZE];
	const char *path = pctl_arena_printf(p->arena, "%s/%s.optional.cfg", p->dirs[0],
					     pctl_cid_format(&r->key, key));

	if (path != NULL && pctl_file_exists(path))
		unlink(path);
}

pctl_status pctl_profiles_obtain(pctl_profiles *p, const pctl_profiled_device *d, uint32_t flags,
				 const pctl_call *call, pctl_profile_record *out)
{
	const char *revoked;
	pctl_status status = make_ready(p, call);
	int taken = 0;

	describe(d, out);
	if (status == PCTL_OK)
		status = pctl_profile_key(out, call);
	if (status == PCTL_OK && !(flags & PCTL_PROFILES_FRESH))
		status = check_revoked(p, d, out, call);
	if (status != PCTL_OK)
		return status;
	/* trusted[0] is the key of this home. */
	if (!(flags & PCTL_PROFILES_FRESH) &&
	    pctl_profile_find(out, p->dirs, p->n_dirs, p->trusted, 1, call))
		return PCTL_OK;
	if (p->o.probing != NULL)
		p->o.probing(p->o.ctx, d->name);
	if (!(flags & PCTL_PROFILES_FRESH))
		status = take_claim(p, d, call, out, &taken);
	if (status == PCTL_OK && !taken)
		status = pctl_probe_device(d->table, d->dev, d->caps, call, out);
	if (status == PCTL_OK)
		status = pctl_profile_write(out, p->dirs[0], p->signer, call);
	if (status == PCTL_OK && flags & PCTL_PROFILES_FRESH)
		forget_optional(p, out);
	revoked = status == PCTL_OK ? revocation_path(p, out) : NULL;
	if (revoked != NULL && pctl_file_exists(revoked))
		unlink(revoked);
	return status;
}

pctl_status pctl_profiles_export(pctl_profiles *p, pctl_profile_record *r, const char *dir,
				 const pctl_call *call)
{
	const pctl_status status = make_ready(p, call);

	return status == PCTL_OK ? pctl_profile_write(r, dir, p->signer, call) : status;
}

/* ---- limits ------------------------------------------------------------------------------- */

/* The key that the device's profile has, whether or not there is one. */
static pctl_status key_of(const pctl_profiled_device *d, const pctl_call *call, pctl_cid *out)
{
	pctl_profile_record *r = malloc(sizeof(*r));
	pctl_status status;

	if (r == NULL)
		return pctl_no_memory(call, "profiles");
	describe(d, r);
	status = pctl_profile_key(r, call);
	*out = r->key;
	free(r);
	return status;
}

/* Known limits are rechecked; where they do not hold, or nothing is known, the device is searched. */
static pctl_status look_for_limits(const pctl_profiled_device *d, const pctl_call *call,
				   pctl_limits_record *out)
{
	pctl_extent_limits known;
	int right = 0, lost;
	pctl_status status = PCTL_OK;

	if (pctl_limits_known(d->identity, d->n_identity, d->roles, &known))
		status = pctl_probe_known_limits(d->table, d->dev, d->caps, call, &known, &right);
	if (status != PCTL_OK)
		return status;
	if (right) {
		out->limits = known;
		return PCTL_OK;
	}
	out->searched = 1;
	status =
		pctl_probe_limits(d->table, d->dev, d->caps, call, &out->limits, &out->slow, &lost);
	pctl_extent_limits_least(&out->limits, &known);
	return status;
}

/* Take the limits that somebody else found, after a check of a few of them. PCTL_OK with *taken 0: they do not hold. */
static pctl_status take_limits(const pctl_profiled_device *d, const pctl_call *call,
			       pctl_limits_record *out, int *taken)
{
	pctl_extent_limits known;
	pctl_status status;

	/* Whatever is claimed, no driver is given more than the table allows any. */
	(void)pctl_limits_known(d->identity, d->n_identity, d->roles, &known);
	pctl_extent_limits_least(&out->limits, &known);
	status = pctl_probe_known_limits(d->table, d->dev, d->caps, call, &out->limits, taken);
	if (status == PCTL_OK && !*taken)
		pctl_warn_at(call, PC4333_PROFILE_CLAIM, NULL, "the device is searched",
			     "%s: limits %s do not hold here", d->name, out->path);
	return status;
}

pctl_status pctl_profiles_limits(pctl_profiles *p, const pctl_profiled_device *d, uint32_t flags,
				 const pctl_call *call, pctl_limits_record *out)
{
	uint64_t began;
	int claimed = 0, taken = 0;
	pctl_status status = make_ready(p, call), kept = PCTL_OK;

	memset(out, 0, sizeof(*out));
	if (status == PCTL_OK)
		status = key_of(d, call, &out->key);
	if (status != PCTL_OK)
		return status;
	if (!(flags & PCTL_PROFILES_FRESH)) {
		/* trusted[0] is the key of this home. */
		if (pctl_limits_find(out, p->dirs, p->n_dirs, p->trusted, 1, call))
			return PCTL_OK;
		claimed = pctl_limits_find(out, p->dirs, p->n_dirs, p->trusted, p->n_trusted, call);
	}
	if (flags & PCTL_PROFILES_KEPT) {
		out->path[0] = '\0';
		return PCTL_OK;
	}
	if (p->o.probing != NULL)
		p->o.probing(p->o.ctx, d->name);
	began = pctl_clock_ms();
	if (claimed)
		status = take_limits(d, call, out, &taken);
	if (status == PCTL_OK && !taken) {
		const pctl_cid key = out->key;

		memset(out, 0, sizeof(*out));
		out->key = key;
		status = look_for_limits(d, call, out);
	}
	out->ms = pctl_clock_ms() - began;
	if (status == PCTL_OK)
		kept = pctl_limits_write(out, d->device == NULL ? d->name : d->device, p->dirs[0],
					 p->signer, call);
	return status == PCTL_OK ? kept : status;
}

/* ---- optional operations ------------------------------------------------------------------ */

pctl_status pctl_profiles_optional(pctl_profiles *p, const pctl_profiled_device *d, uint32_t flags,
				   const pctl_call *call, pctl_optional_record *out)
{
	pctl_status status = make_ready(p, call);

	memset(out, 0, sizeof(*out));
	if (status == PCTL_OK)
		status = key_of(d, call, &out->key);
	/* trusted[0] is the key of this home. */
	if (status == PCTL_OK && !(flags & PCTL_PROFILES_FRESH))
		(void)pctl_optional_find(out, p->dirs[0], p->trusted[0], call);
	snprintf(out->device, sizeof(out->device), "%s", d->device == NULL ? d->name : d->device);
	return status;
}

pctl_status pctl_profiles_keep_optional(pctl_profiles *p, pctl_optional_record *r,
					const pctl_call *call)
{
	const pctl_status status = make_ready(p, call);

	return status == PCTL_OK ? pctl_optional_write(r, p->dirs[0], p->signer, call) : status;
}

pctl_status pctl_profiles_tuning(pctl_profiles *p, const pctl_profiled_device *d,
				 const pctl_call *call, pctl_tuning_record *out, int *found)
{
	pctl_status status = make_ready(p, call);

	*found = 0;
	memset(out, 0, sizeof(*out));
	if (status == PCTL_OK)
		status = key_of(d, call, &out->key);
	if (status == PCTL_OK)
		*found = pctl_tuning_find(out, p->dirs[0], p->trusted[0], call);
	return status;
}

pctl_status pctl_profiles_keep_tuning(pctl_profiles *p, const pctl_profiled_device *d,
				      pctl_tuning_record *r, const pctl_call *call)
{
	pctl_status status = make_ready(p, call);

	if (status == PCTL_OK)
		status = key_of(d, call, &r->key);
	snprintf(r->device, sizeof(r->device), "%s", d->device == NULL ? d->name : d->device);
	return status == PCTL_OK ? pctl_tuning_write(r, p->dirs[0], p->signer, call) : status;
}

pctl_status pctl_profiles_export_limits(pctl_profiles *p, pctl_limits_record *r, const char *device,
					const char *dir, const pctl_call *call)
{
	const pctl_status status = make_ready(p, call);

	return status == PCTL_OK ? pctl_limits_write(r, device, dir, p->signer, call) : status;
}
