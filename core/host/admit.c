/* Where a pipeline comes from, whether the policy lets it run, and signatures over all it is made of; see load.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/file.h"
#include "foundation/base/order.h"
#include "host/load.h"
#include "runtime/graph/vm.h"

#define SIGNATURE_MAX (4u << 20)
#define REASON_MAX 512u

/* ---- what a signature covers -------------------------------------------------------------- */

/* "NAME\nCID": sorts by name, and is turned round when it is printed. */
static pctl_status line_of(const pctl_texts *texts, uint32_t i, const pctl_call *call, char **out)
{
	char *name = pctl_texts_relative(texts, i), text[PCTL_CID_TEXT_SIZE];
	uint64_t n;
	const char *bytes = pctl_texts_bytes(texts, i, &n);
	pctl_str_buf line = PCTL_STR_BUF_INIT;
	pctl_cid cid;
	pctl_status status = PCTL_OK;

	*out = NULL;
	if (name == NULL)
		return pctl_no_memory(call, "a signature");
	if (strpbrk(name, "\r\n") != NULL)
		status = pctl_refuse(call, PC6012_REPO_SIGNATURE,
				     "a file name with a line break cannot be signed");
	if (status == PCTL_OK)
		status = pctl_cid_of(bytes, n, call, &cid);
	if (status == PCTL_OK) {
		pctl_str_addf(&line, "%s\n%s", name, pctl_cid_format(&cid, text));
		*out = pctl_str_finish(&line);
		if (*out == NULL)
			status = pctl_no_memory(call, "a signature");
	}
	free(name);
	return status;
}

pctl_status pctl_texts_statement(const pctl_texts *texts, const pctl_call *call, pctl_str_buf *out)
{
	const uint32_t n = pctl_texts_count(texts);
	char **lines = calloc(n + 1u, sizeof(*lines));
	pctl_status status = lines == NULL ? pctl_no_memory(call, "a signature") : PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < n; i++)
		status = line_of(texts, i, call, &lines[i]);
	if (status == PCTL_OK) {
		qsort(lines, n, sizeof(*lines), pctl_order_texts);
		pctl_str_add(out, "# pipectl pipeline 1\n");
	}
	for (uint32_t i = 0; status == PCTL_OK && i < n; i++) {
		const char *cid = strchr(lines[i], '\n') + 1;

		if (i == 0 || strcmp(lines[i], lines[i - 1]) != 0)
			pctl_str_addf(out, "# %s %.*s\n", cid, (int)(cid - 1 - lines[i]), lines[i]);
	}
	for (uint32_t i = 0; lines != NULL && i < n; i++)
		free(lines[i]);
	free(lines);
	return status;
}

/* ---- making a signature ------------------------------------------------------------------- */

/* Its file and its kernels. */
static pctl_status read_machine(const pctl_vfs *vfs, const char *path, const pctl_call *call)
{
	pctl_arena *arena = pctl_arena_create();
	pctl_vm_desc *d;
	pctl_status status = arena == NULL ? pctl_no_memory(call, "a machine")
					   : pctl_vm_read(vfs, path, NULL, arena, call, &d);

	pctl_arena_destroy(arena);
	return status;
}

/* Every text the pipeline consists of, read through `view`. */
static pctl_status read_all(const pctl_vfs *vfs, const char *path, const pctl_call *call)
{
	pctl_pipeline *p = NULL;
	pctl_status status = pctl_pipeline_read_vfs(vfs, path, call, &p);

	for (uint32_t i = 0; status == PCTL_OK && i < p->n_jobs; i++) {
		char *name, *text = NULL;
		uint64_t n;

		if (p->jobs[i].kind == PCTL_JOB_OP)
			continue;
		name = pctl_vfs_resolve(vfs, path, p->jobs[i].shader);
		if (name == NULL)
			status = pctl_no_memory(call, "a path");
		else if (p->jobs[i].kind == PCTL_JOB_VM)
			status = read_machine(vfs, name, call);
		else
			status =
				pctl_vfs_read(vfs, name, PCTL_PIPELINE_SHADER_MAX, call, &text, &n);
		free(text);
		free(name);
	}
	pctl_pipeline_destroy(p);
	return status;
}

static pctl_status seal(pctl_installation *in, const pctl_texts *texts, const char *to,
			const pctl_call *call, const char **key)
{
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	pctl_signer *signer = NULL;
	pctl_status status = pctl_installation_signer(in, call, &signer);

	if (status == PCTL_OK)
		status = pctl_texts_statement(texts, call, &text);
	if (status == PCTL_OK)
		status = pctl_signer_seal(signer, &text, call);
	if (status == PCTL_OK)
		status = pctl_file_write(to, text.data, text.n, 1, call);
	if (status == PCTL_OK)
		*key = pctl_arena_dup(in->arena, pctl_signer_public(signer));
	pctl_signer_close(signer);
	pctl_str_drop(&text);
	return status;
}

pctl_status pctl_sign_pipeline(pctl_installation *in, const char *path, const char *to,
			       const pctl_call *call, const char **key, uint32_t *n)
{
	pctl_texts *texts = pctl_texts_create(NULL);
	pctl_status status = texts == NULL ? pctl_no_memory(call, "a signature")
					   : read_all(pctl_texts_vfs(texts), path, call);

	if (status == PCTL_OK)
		status = seal(in, texts, to, call, key);
	if (status == PCTL_OK)
		*n = pctl_texts_count(texts);
	pctl_texts_destroy(texts);
	return status;
}

/* ---- asking the policy -------------------------------------------------------------------- */

static pctl_status check_signer(const pctl_policy *policy, const char *name, const char *key,
				const pctl_call *call)
{
	for (uint32_t i = 0; i < policy->n_signers; i++)
		if (strcmp(policy->signers[i], key) == 0)
			return PCTL_OK;
	return pctl_refuse(call, PC6012_REPO_SIGNATURE,
			   "%s was signed by %s, who is not among the signers (%s)", name, key,
			   pctl_policy_origin(policy, "signers"));
}

/* The signature beside the pipeline against the texts that were read. */
static pctl_status check_signature(const pctl_installation *in, const pctl_loaded_pipeline *p,
				   const char *name, const pctl_call *call)
{
	const pctl_vfs *vfs = p->revision == NULL ? NULL : pctl_repo_revision_vfs(p->revision);
	char *text = NULL, key[PCTL_PUBLIC_KEY_TEXT];
	pctl_str_buf want = PCTL_STR_BUF_INIT;
	uint64_t n = 0;
	size_t n_signed = 0;
	pctl_status status = pctl_vfs_read(vfs, name, SIGNATURE_MAX, call, &text, &n);

	if (status == PCTL_OK)
		status = pctl_sealed_check(name, text, (size_t)n, call, &n_signed, key);
	if (status == PCTL_OK)
		status = check_signer(in->policy, name, key, call);
	if (status == PCTL_OK)
		status = pctl_texts_statement(p->texts, call, &want);
	if (status == PCTL_OK &&
	    (want.failed || want.n != n_signed || memcmp(want.data, text, n_signed) != 0))
		status = pctl_refuse(call, PC6012_REPO_SIGNATURE,
				     "%s covers other files than the %" PRIu32
				     " that the pipeline is made of now, or other bytes of them",
				     name, pctl_texts_count(p->texts));
	pctl_str_drop(&want);
	free(text);
	return status;
}

static pctl_status admit_signed(pctl_installation *in, const pctl_loaded_pipeline *p,
				const pctl_call *call)
{
	const pctl_vfs *vfs = p->revision == NULL ? NULL : pctl_repo_revision_vfs(p->revision);
	const char *name = pctl_arena_printf(in->arena, "%s.sig", p->pipeline->file);

	if (!in->policy->must_sign)
		return PCTL_OK;
	if (name == NULL)
		return pctl_no_memory(call, "a path");
	if (!pctl_vfs_exists(vfs, name))
		return pctl_refuse(call, PC6011_REPO_UNSIGNED,
				   "there is no %s, the policy asks for a signature (%s)", name,
				   pctl_policy_origin(in->policy, "signed"));
	return check_signature(in, p, name, call);
}

/* The reason of an error, kept to be said as a warning. */
static void take_reason(void *ctx, const pctl_diag *d)
{
	char *reason = ctx;

	if (reason[0] == '\0')
		snprintf(reason, REASON_MAX, "%s", d->message);
}

/* A repository that cannot be read does not stop a run: the file then counts as outside of any, which a policy may refuse. */
static pctl_status describe_files(pctl_loaded_pipeline *p, const pctl_call *call)
{
	char reason[REASON_MAX] = "";
	const pctl_call quiet = {.head = PCTL_HEAD(pctl_call), .ctx = reason, .diag = take_reason};
	const pctl_pos nowhere = {.line = 0};

	if (pctl_repo_describe(p->texts, &quiet, &p->place) == PCTL_OK)
		return PCTL_OK;
	pctl_repo_place_clear(&p->place);
	pctl_warn_at(call, PC6002_REPO_UNREADABLE, &nowhere, NULL, "%s", reason);
	p->place.state = PCTL_REPO_OUTSIDE;
	p->place.repository = strdup("");
	p->place.path = strdup("");
	return p->place.repository != NULL && p->place.path != NULL
		       ? PCTL_OK
		       : pctl_no_memory(call, "a place");
}

static pctl_status find_place(pctl_loaded_pipeline *p, const pctl_call *call)
{
	const pctl_repo_place *of;

	if (p->place.repository != NULL)
		return PCTL_OK;
	if (p->revision == NULL)
		return describe_files(p, call);
	of = pctl_repo_revision_place(p->revision);
	p->place = *of;
	p->place.repository = strdup(of->repository);
	p->place.path = strdup(of->path);
	return p->place.repository != NULL && p->place.path != NULL
		       ? PCTL_OK
		       : pctl_no_memory(call, "a place");
}

pctl_status pctl_admit(pctl_installation *in, pctl_loaded_pipeline *p, const pctl_call *call)
{
	static const char *const why[] = {"", "differs from the commit", "is not in the commit",
					  "is in no repository"};
	pctl_status status;

	if (p->admitted)
		return PCTL_OK;
	status = find_place(p, call);
	if (status == PCTL_OK)
		status = pctl_installation_policy(in, call);
	if (status == PCTL_OK && !in->policy->dirty && p->place.state != PCTL_REPO_CLEAN)
		status = pctl_refuse(call, PC6010_REPO_DIRTY,
				     "%s, or a text it is made of, %s; the policy refuses it (%s)",
				     p->pipeline->file, why[p->place.state],
				     pctl_policy_origin(in->policy, "dirty"));
	if (status == PCTL_OK)
		status = admit_signed(in, p, call);
	p->admitted = status == PCTL_OK;
	return status;
}
