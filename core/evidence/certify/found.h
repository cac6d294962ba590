/* Certificates in directories: found, judged against the files that are here, and asked which level an op holds on a
 * device. This is the only place that says so: runs, audits, plans and lists ask here. */
#ifndef PIPECTL_EVIDENCE_CERTIFY_FOUND_H
#define PIPECTL_EVIDENCE_CERTIFY_FOUND_H

#include "evidence/certify/certificate.h"
#include "runtime/exec/run.h"
#include "runtime/device/profiles.h"

/*
 * One certificate whose signature is valid and that does not contradict itself.
 *
 * trusted  1: signed with this home's key, or one of those that came with the installation
 * note     "" or why it says nothing here: the device's profile is revoked, or it was made with another kit
 * claim    "" or which file it names that is another one here: it counts for nothing until `certify confirm` has tried
 *          a sample of it with the files that are here
 */
typedef struct pctl_found_certificate {
	pctl_certificate *c;
	const char *note, *claim;
	uint32_t trusted, reserved;
} pctl_found_certificate;

typedef struct pctl_found {
	pctl_arena *arena;
	pctl_found_certificate *items; /* by path */
	uint32_t n;
	uint32_t n_refused; /* files NAME.cfg that are no valid certificates */
	const char *home, *host;
} pctl_found;

/* registry and ops say which files are here; they and profiles outlive what is found.
 *
 * of_host  1: only files that name this very host's SHA-256; a certificate that does not gives no level here, and reading all of
 *          them takes a good part of a second. */
typedef struct pctl_found_options {
	pctl_profiles *profiles;
	pctl_registry *registry;
	const pctl_op_source *ops;
	const char *home;
	const char *const *dirs;
	uint32_t n_dirs;
	uint32_t of_host;
} pctl_found_options;

/* Look through dirs and the directories in them for files NAME.cfg; directories that are not there are passed over.
 * Errors: PC0002, PC3101. */
pctl_status pctl_found_open(const pctl_found_options *o, const pctl_call *call, pctl_found **out);
void pctl_found_close(pctl_found *f);

/* 1: c is of the device with these identity facts. */
int pctl_found_same_device(const pctl_certificate *c, const pctl_key_value *identity, uint32_t n);

/* What makes certificate c a claim here, as `claim` above says it; "" where it names the files that are here. In the arena. Errors:
 * PC0002, PC3101. */
pctl_status pctl_found_claim(const pctl_certificate *c, pctl_registry *registry,
			     const pctl_op_source *ops, pctl_arena *arena, const pctl_call *call,
			     const char **out);

/*
 * The highest level of the track that trusted certificates without a note give the op on the device: those whose facts
 * are the device's, and whose backend (id and SHA-256), op libraries and host are those in use. What others say of the
 * device is `claimed`, and the hint names the first file of the highest.
 */
void pctl_found_level(const pctl_found *f, const pctl_level_question *q, pctl_level_answer *out);

#endif
