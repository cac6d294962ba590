/* Memo records: one small text file a key, checked by a digest of its own, so that whatever is not
 * exactly what was written is a miss.
 *
 *   pipectl-memo 3
 *   host HEX
 *   evidence TEXT
 *   class N
 *   proven 0|1
 *   memory N
 *   gas N
 *   library ID SHA256                                              (any number; fields between tabs)
 *   device ID SHA256 INDEX KIND PROFILE DRIVER NAME                (any number; fields between tabs)
 *   out NAME CID BYTES TYPE (any number)
 *   sum HEX                 (SHA-256 of all lines before)
 */
#include "runtime/cas/memo.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "foundation/base/file.h"
#include "foundation/base/num.h"
#include "foundation/base/str.h"
#include "foundation/base/vec.h"
#include "runtime/cas/memo_private.h"

#define HEX_SIZE (2 * PCTL_DIGEST_BYTES + 1)
#define RECORD_BYTES_MAX 65536u
#define MAGIC "pipectl-memo 3\n"

pctl_status pctl_memo_open(const char *path, pctl_store *store, const pctl_call *call,
			   pctl_memo **out)
{
	pctl_memo *m = calloc(1, sizeof(*m));

	*out = NULL;
	if (m == NULL || (m->path = strdup(path)) == NULL) {
		free(m);
		return pctl_refuse(call, PC2_NOMEM, "no memory for a memo table");
	}
	m->store = store;
	*out = m;
	return PCTL_OK;
}

void pctl_memo_close(pctl_memo *m)
{
	if (m == NULL)
		return;
	free(m->path);
	free(m);
}

/* DIR/XX or DIR/XX/KEY; released with free(). */
static char *shard_path(const pctl_memo *m, const char *hex, int whole)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;

	pctl_str_addf(&s, "%s/%.2s", m->path, hex);
	if (whole)
		pctl_str_addf(&s, "/%s", hex);
	return pctl_str_finish(&s);
}

/* ---- the text ----------------------------------------------------------------------------- */

/* Printable enough for one field of a line; blank says whether a space may be in it. */
static int is_field(const char *text, size_t cap, int blank)
{
	const size_t n = strnlen(text, cap);

	for (size_t i = 0; i < n; i++)
		if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f || (!blank && text[i] == ' '))
			return 0;
	return n < cap;
}

static int is_plugin(const pctl_memo_plugin *p)
{
	return p->id[0] != 0 && is_field(p->id, sizeof(p->id), 0) &&
	       is_field(p->sha256, sizeof(p->sha256), 0) &&
	       is_field(p->profile, sizeof(p->profile), 0) &&
	       is_field(p->driver, sizeof(p->driver), 1) && is_field(p->name, sizeof(p->name), 1);
}

static int is_valid(const pctl_memo_record *r)
{
	if (r->n_outputs > PCTL_MEMO_OUTPUTS_MAX || r->n_plugins > PCTL_MEMO_PLUGINS_MAX ||
	    !is_field(r->host, sizeof(r->host), 0))
		return 0;
	for (uint32_t i = 0; i < r->n_plugins; i++)
		if (!is_plugin(&r->plugins[i]))
			return 0;
	for (uint32_t i = 0; i < r->n_outputs; i++)
		if (r->outputs[i].name[0] == 0 || r->outputs[i].type[0] == 0 ||
		    !is_field(r->outputs[i].name, sizeof(r->outputs[i].name), 0) ||
		    !is_field(r->outputs[i].type, sizeof(r->outputs[i].type), 0))
			return 0;
	return 1;
}

static void add_plugin(pctl_str_buf *s, const pctl_memo_plugin *p)
{
	if (p->is_device)
		pctl_str_addf(s, "device %s\t%s\t%" PRIu32 "\t%" PRIu32 "\t%s\t%s\t%s\n", p->id,
			      p->sha256, p->index, p->kind, p->profile, p->driver, p->name);
	else
		pctl_str_addf(s, "library %s\t%s\n", p->id, p->sha256);
}

char *pctl_memo_seal(pctl_str_buf *s)
{
	char hex[HEX_SIZE];
	pctl_cid sum;

	if (s->failed || pctl_cid_of(s->data, s->n, NULL, &sum) != PCTL_OK) {
		pctl_str_drop(s);
		return NULL;
	}
	pctl_str_addf(s, "sum %s\n", pctl_digest_hex(sum.digest, hex));
	return pctl_str_finish(s);
}

static char *encode(const pctl_memo_record *r)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;
	char cid[PCTL_CID_TEXT_SIZE], evidence[PCTL_EVIDENCE_TEXT];

	pctl_str_addf(&s,
		      MAGIC "host %s\nevidence %s\nclass %" PRIu32 "\nproven %" PRIu32
			    "\nmemory %" PRIu64 "\ngas %" PRIu64 "\n",
		      r->host, pctl_evidence_text(r->evidence, evidence), r->determinism, r->proven,
		      r->memory, r->gas);
	for (uint32_t i = 0; i < r->n_plugins; i++)
		add_plugin(&s, &r->plugins[i]);
	for (uint32_t i = 0; i < r->n_outputs; i++)
		pctl_str_addf(&s, "out %s %s %" PRIu64 " %s\n", r->outputs[i].name,
			      pctl_cid_format(&r->outputs[i].cid, cid), r->outputs[i].n_bytes,
			      r->outputs[i].type);
	return pctl_memo_seal(&s);
}

char *pctl_memo_line(char **text)
{
	char *line = *text, *end = strchr(line, '\n');

	if (end == NULL)
		return NULL;
	*end = 0;
	*text = end + 1;
	return line;
}

/* What follows `word` on the line, or NULL when it begins otherwise. */
static char *after(char *line, const char *word)
{
	const size_t n = strlen(word);

	return line != NULL && strncmp(line, word, n) == 0 ? line + n : NULL;
}

static int decode_output(char *text, pctl_memo_output *out)
{
	char *cid = strchr(text, ' '), *size = cid != NULL ? strchr(cid + 1, ' ') : NULL;
	char *type = size != NULL ? strchr(size + 1, ' ') : NULL;

	if (type == NULL)
		return 0;
	*cid++ = 0;
	*size++ = 0;
	*type++ = 0;
	if (strlen(text) >= sizeof(out->name) || strlen(type) >= sizeof(out->type))
		return 0;
	memcpy(out->name, text, strlen(text) + 1);
	memcpy(out->type, type, strlen(type) + 1);
	return pctl_cid_parse(cid, &out->cid) &&
	       pctl_num_parse_u64(size, strlen(size), &out->n_bytes);
}

static int copy_field(char *to, size_t cap, const char *text)
{
	if (text == NULL || strlen(text) >= cap)
		return 0;
	memcpy(to, text, strlen(text) + 1);
	return 1;
}

int pctl_memo_sealed(const char *text, size_t n)
{
	const size_t tail = 4 + HEX_SIZE; /* "sum ", the digits, the newline */
	uint8_t wanted[PCTL_DIGEST_BYTES];
	char hex[HEX_SIZE];
	pctl_cid sum;

	if (n < tail || strlen(text) != n || memcmp(text + n - tail, "sum ", 4) != 0 ||
	    text[n - 1] != '\n')
		return 0;
	memcpy(hex, text + n - HEX_SIZE, HEX_SIZE - 1);
	hex[HEX_SIZE - 1] = 0;
	return pctl_digest_parse_hex(hex, wanted) &&
	       pctl_cid_of(text, n - tail, NULL, &sum) == PCTL_OK &&
	       memcmp(wanted, sum.digest, sizeof(wanted)) == 0;
}

static int take_u32(const char *text, uint32_t *out)
{
	uint64_t v;

	if (!pctl_num_parse_u64(text, strlen(text), &v) || v > UINT32_MAX)
		return 0;
	*out = (uint32_t)v;
	return 1;
}

static int decode_plugin(char *text, int is_device, pctl_memo_plugin *p)
{
	enum { ID, SHA256, INDEX, KIND, PROFILE, DRIVER, NAME, N_FIELDS };
	char *field[N_FIELDS];
	uint32_t n = 0;

	for (char *at = text; at != NULL && n < N_FIELDS; n++) {
		field[n] = at;
		at = strchr(at, '\t');
		if (at != NULL)
			*at++ = 0;
	}
	if (n != (is_device ? (uint32_t)N_FIELDS : (uint32_t)INDEX) ||
	    !copy_field(p->id, sizeof(p->id), field[ID]) ||
	    !copy_field(p->sha256, sizeof(p->sha256), field[SHA256]))
		return 0;
	p->is_device = is_device != 0;
	return !is_device ||
	       (take_u32(field[INDEX], &p->index) && take_u32(field[KIND], &p->kind) &&
		copy_field(p->profile, sizeof(p->profile), field[PROFILE]) &&
		copy_field(p->driver, sizeof(p->driver), field[DRIVER]) &&
		copy_field(p->name, sizeof(p->name), field[NAME]));
}

static int decode_numbers(char **text, pctl_memo_record *r)
{
	const char *class = after(pctl_memo_line(text), "class ");
	const char *proven = class == NULL ? NULL : after(pctl_memo_line(text), "proven ");
	const char *memory = proven == NULL ? NULL : after(pctl_memo_line(text), "memory ");
	const char *gas = memory == NULL ? NULL : after(pctl_memo_line(text), "gas ");

	return gas != NULL && take_u32(class, &r->determinism) && take_u32(proven, &r->proven) &&
	       pctl_num_parse_u64(memory, strlen(memory), &r->memory) &&
	       pctl_num_parse_u64(gas, strlen(gas), &r->gas);
}

static int decode(char *text, size_t n, pctl_memo_record *r)
{
	char *line, *field;

	if (!pctl_memo_sealed(text, n) || after(text, MAGIC) == NULL)
		return 0;
	text += strlen(MAGIC);
	if (!copy_field(r->host, sizeof(r->host), after(pctl_memo_line(&text), "host ")) ||
	    (field = after(pctl_memo_line(&text), "evidence ")) == NULL ||
	    !pctl_evidence_parse(field, &r->evidence) || !decode_numbers(&text, r))
		return 0;
	for (line = pctl_memo_line(&text); line != NULL; line = pctl_memo_line(&text)) {
		const int is_device = after(line, "device ") != NULL;

		field = after(line, is_device ? "device " : "library ");
		if (field == NULL)
			break;
		if (r->n_plugins >= PCTL_MEMO_PLUGINS_MAX ||
		    !decode_plugin(field, is_device, &r->plugins[r->n_plugins++]))
			return 0;
	}
	for (; line != NULL && (field = after(line, "out ")) != NULL; line = pctl_memo_line(&text))
		if (r->n_outputs >= PCTL_MEMO_OUTPUTS_MAX ||
		    !decode_output(field, &r->outputs[r->n_outputs++]))
			return 0;
	return after(line, "sum ") != NULL && *text == 0;
}

/* ---- the table ---------------------------------------------------------------------------- */

static int read_record(const char *path, pctl_memo_record *out)
{
	char *text = NULL;
	uint64_t n = 0;
	int ok = 0;

	memset(out, 0, sizeof(*out));
	if (pctl_file_read(path, RECORD_BYTES_MAX, NULL, &text, &n) == PCTL_OK)
		ok = decode(text, (size_t)n, out);
	free(text);
	if (!ok)
		memset(out, 0, sizeof(*out));
	return ok;
}

int pctl_memo_get(pctl_memo *m, const uint8_t key[PCTL_DIGEST_BYTES], pctl_memo_record *out)
{
	char hex[HEX_SIZE];
	char *path = shard_path(m, pctl_digest_hex(key, hex), 1);
	int ok;

	memset(out, 0, sizeof(*out));
	ok = path != NULL && read_record(path, out);
	for (uint32_t i = 0; ok && i < out->n_outputs; i++) {
		uint64_t n;

		ok = pctl_store_size(m->store, &out->outputs[i].cid, NULL, &n) == PCTL_OK &&
		     n == out->outputs[i].n_bytes;
	}
	if (!ok)
		memset(out, 0, sizeof(*out));
	free(path);
	return ok;
}

int pctl_memo_get_verified(pctl_memo *m, const uint8_t key[PCTL_DIGEST_BYTES],
			   pctl_memo_record *out)
{
	int ok = pctl_memo_get(m, key, out);

	for (uint32_t i = 0; ok && i < out->n_outputs; i++) {
		pctl_blob b;

		ok = pctl_store_get(m->store, &out->outputs[i].cid, NULL, &b) == PCTL_OK;
		pctl_blob_release(&b);
	}
	if (!ok)
		memset(out, 0, sizeof(*out));
	return ok;
}

pctl_status pctl_memo_put(pctl_memo *m, const uint8_t key[PCTL_DIGEST_BYTES],
			  const pctl_memo_record *record, const pctl_call *call)
{
	char hex[HEX_SIZE];
	char *dir = NULL, *path = NULL, *text = NULL;
	pctl_status status;

	if (!is_valid(record))
		return pctl_refuse(call, PC5010_CAS_MEMO_RECORD,
				   "the record of a run on \"%.40s\" cannot be written",
				   record->n_plugins == 0 ? "" : record->plugins[0].id);
	pctl_digest_hex(key, hex);
	dir = shard_path(m, hex, 0);
	path = shard_path(m, hex, 1);
	text = encode(record);
	if (dir == NULL || path == NULL || text == NULL)
		status = pctl_refuse(call, PC2_NOMEM, "no memory for a memo record");
	else
		status = pctl_file_make_dirs(dir, call);
	if (status == PCTL_OK)
		status = pctl_file_write(path, text, strlen(text), 0, call);
	free(text);
	free(path);
	free(dir);
	return status;
}

pctl_status pctl_memo_forget(pctl_memo *m, const uint8_t key[PCTL_DIGEST_BYTES],
			     const pctl_call *call)
{
	char hex[HEX_SIZE];
	char *path = shard_path(m, pctl_digest_hex(key, hex), 1);
	pctl_status status = PCTL_OK;

	if (path == NULL)
		return pctl_refuse(call, PC2_NOMEM, "no memory for a path");
	if (unlink(path) != 0 && errno != ENOENT)
		status = pctl_refuse(call, PC3_IO, "cannot remove %s", path);
	free(path);
	return status;
}

/* ---- walking ------------------------------------------------------------------------------ */

typedef PCTL_VEC(char *) names;

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Paths in a directory whose names have n characters, sorted; an absent directory has none. */
static int read_paths(const char *path, size_t n, names *out)
{
	DIR *dir = opendir(path);
	struct dirent *e;
	int ok = 1;

	*out = (names){0};
	while (dir != NULL && ok && (e = readdir(dir)) != NULL) {
		char *file = strlen(e->d_name) == n && e->d_name[0] != '.'
				     ? pctl_path_join(path, e->d_name)
				     : NULL;

		if (file != NULL && !PCTL_VEC_PUSH(out, file)) {
			free(file);
			ok = 0;
		}
	}
	if (dir != NULL)
		closedir(dir);
	if (out->n > 0)
		qsort(out->items, out->n, sizeof(*out->items), by_text);
	return ok;
}

static void free_names(names *list)
{
	for (uint32_t i = 0; i < list->n; i++)
		free(list->items[i]);
	free(list->items);
	*list = (names){0};
}

typedef int (*visit_path)(void *ctx, const char *path);

static pctl_status walk(pctl_memo *m, const pctl_call *call, visit_path visit, void *ctx)
{
	names shards, files;
	int ok = read_paths(m->path, 2, &shards), stop = 0;

	for (uint32_t i = 0; ok && i < shards.n && !stop; i++) {
		ok = read_paths(shards.items[i], HEX_SIZE - 1, &files);
		for (uint32_t k = 0; ok && k < files.n && !stop; k++)
			stop = visit(ctx, files.items[k]);
		free_names(&files);
	}
	free_names(&shards);
	return ok ? PCTL_OK : pctl_refuse(call, PC2_NOMEM, "no memory to list the memo table");
}

static int remove_one(void *ctx, const char *path)
{
	(void)ctx;
	(void)unlink(path);
	return 0;
}

pctl_status pctl_memo_clear(pctl_memo *m, const pctl_call *call)
{
	return walk(m, call, remove_one, NULL);
}

typedef struct lister {
	int (*visit)(void *ctx, const uint8_t key[PCTL_DIGEST_BYTES], const pctl_memo_record *r);
	void *ctx;
	pctl_memo_record record;
} lister;

static int list_one(void *ctx, const char *path)
{
	lister *l = ctx;
	uint8_t key[PCTL_DIGEST_BYTES];

	if (!pctl_digest_parse_hex(path + strlen(path) - (HEX_SIZE - 1), key) ||
	    !read_record(path, &l->record))
		return 0;
	return l->visit(l->ctx, key, &l->record);
}

pctl_status pctl_memo_list(pctl_memo *m, const pctl_call *call,
			   int (*visit)(void *ctx, const uint8_t key[PCTL_DIGEST_BYTES],
					const pctl_memo_record *r),
			   void *ctx)
{
	lister *l = calloc(1, sizeof(*l));
	pctl_status status;

	if (l == NULL)
		return pctl_refuse(call, PC2_NOMEM, "no memory to list the memo table");
	l->visit = visit;
	l->ctx = ctx;
	status = walk(m, call, list_one, l);
	free(l);
	return status;
}
