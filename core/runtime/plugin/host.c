/* Which host this is: the files whose code legalises, drives workers and compares, by what they hold. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/program.h"
#include "runtime/cas/cid.h"
#include "runtime/plugin/registry_private.h"

pctl_status pctl_registry_host(pctl_registry *r, const pctl_call *call, const char **out)
{
	char program[2 * PCTL_DIGEST_BYTES + 1], worker[2 * PCTL_DIGEST_BYTES + 1];
	char text[4 * PCTL_DIGEST_BYTES + 32];
	char *file;
	pctl_status s;
	pctl_cid cid;
	int hashed;

	*out = r->host;
	if (r->host)
		return PCTL_OK;
	if (!r->worker)
		return pctl_refuse(call, PC3101_WORKER_MISSING,
				   "pipectl-worker is neither beside the executable nor in its "
				   "libexec directory");
	file = pctl_program_file();
	hashed = file && pctl_plugin_hash_file(file, program) &&
		 pctl_plugin_hash_file(r->worker, worker);
	if (!hashed)
		s = pctl_refuse(call, PC3_IO, "cannot read %s or %s to tell which host this is",
				file ? file : "this program", r->worker);
	free(file);
	if (!hashed)
		return s;
	snprintf(text, sizeof(text), "program %s\nworker %s\n", program, worker);
	s = pctl_cid_of(text, strlen(text), call, &cid);
	if (s)
		return s;
	*out = r->host = pctl_arena_dup(r->arena, pctl_digest_hex(cid.digest, program));
	return r->host ? PCTL_OK : pctl_no_memory(call, "a digest");
}
