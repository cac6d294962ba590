/* The table of a memo record, and texts that end with a digest of their own. */
#include <stdlib.h>
#include <string.h>

#include "foundation/base/file.h"
#include "foundation/base/hex.h"
#include "runtime/cas/codings.h"
#include "runtime/cas/memo_private.h"

typedef pctl_memo_record answer;
typedef pctl_memo_plugin plugin;
typedef pctl_memo_output output;

/* ---- the table ---------------------------------------------------------------------------- */

static const char *const roles[] = {"library", "device"};

#define OF_DEVICE \
	.flags = PCTL_RECORD_OPTIONAL, .n_at = offsetof(plugin, is_device), .when = 1u << 1
static const pctl_record_field plugin_fields[] = {
	PCTL_RECORD_SIZED(CHARS, "id", plugin, id, .least = 1, .means = "of the plugin"),
	PCTL_RECORD_SIZED(CHARS, "sha256", plugin, sha256, .means = "of its file"),
	PCTL_RECORD_FIELD(U32, "index", plugin, index, OF_DEVICE, .means = "of the device"),
	PCTL_RECORD_FIELD(U32, "kind", plugin, kind, OF_DEVICE, .means = "`PCTL_DEVICE_*`"),
	PCTL_RECORD_SIZED(CHARS, "profile", plugin, profile, OF_DEVICE,
			  .means = "CID of the profile that kernels were made by, or nothing"),
	PCTL_RECORD_SIZED(CHARS, "driver", plugin, driver, OF_DEVICE, .means = "key of it"),
	PCTL_RECORD_SIZED(CHARS, "name", plugin, name, OF_DEVICE, .means = "of the device")};
static const pctl_record_shape plugin_row =
	PCTL_RECORD_OF_LINES(plugin_fields, PCTL_RECORD_ROW, '\t', plugin);
static const pctl_record_field part_fields[] = {
	PCTL_RECORD_FIELD(WORD, "role", plugin, is_device, PCTL_RECORD_WORDS(roles),
			  .means = "a backend, or an op library"),
	{.key = "plugin",
	 .kind = PCTL_RECORD_GROUP,
	 .flags = PCTL_RECORD_REST,
	 .of = &plugin_row,
	 .means = "which"}};
static const pctl_record_shape part =
	PCTL_RECORD_OF_LINES(part_fields, PCTL_RECORD_ROW, ' ', plugin);

static const pctl_record_field output_fields[] = {
	PCTL_RECORD_SIZED(CHARS, "name", output, name, .least = 1, .means = "of the port"),
	PCTL_RECORD_FIELD(CODED, "cid", output, cid, .coding = &pctl_cid_coding,
			  .means = "of the bytes"),
	PCTL_RECORD_FIELD(U64, "bytes", output, n_bytes, .means = "how many"),
	PCTL_RECORD_SIZED(CHARS, "type", output, type, .least = 1, .means = "\"u32[4,2]\"")};
static const pctl_record_shape output_row =
	PCTL_RECORD_OF_LINES(output_fields, PCTL_RECORD_ROW, ' ', output);

#define NAMED .flags = PCTL_RECORD_NAMED
static const pctl_record_field fields[] = {
	PCTL_RECORD_SIZED(HEX, "key", answer, key, NAMED, .means = "under which it lies"),
	PCTL_RECORD_SIZED(CHARS, "host", answer, host, NAMED, .means = "digest of its files"),
	PCTL_RECORD_FIELD(CODED, "evidence", answer, evidence, NAMED,
			  .coding = &pctl_evidence_coding,
			  .means = "of the outputs as the answer to the inputs' bytes"),
	PCTL_RECORD_FIELD(U32, "class", answer, determinism, NAMED, .means = "`PCTL_CLASS_*`"),
	PCTL_RECORD_FIELD(U32, "proven", answer, proven, NAMED,
			  .means = "1: free of races by analysis"),
	PCTL_RECORD_FIELD(U32, "kernels", answer, kernels, NAMED,
			  .means = "steps of its plan that are"),
	PCTL_RECORD_FIELD(U64, "memory", answer, memory, NAMED,
			  .means = "its buffers together, in bytes"),
	PCTL_RECORD_FIELD(
		U64, "peak", answer, peak, .flags = PCTL_RECORD_NAMED | PCTL_RECORD_OPTIONAL,
		.least = 1,
		.means = "the most of them that is alive at once; older records do not say"),
	PCTL_RECORD_FIELD(U64, "gas", answer, gas, NAMED, .means = "estimate, of all rounds"),
	PCTL_RECORD_FIELD(U64, "size_gas", answer, size_gas, NAMED,
			  .means = "of the sizes found in its data, on top"),
	PCTL_RECORD_FIELD(U64, "wall_ns", answer, wall_ns, NAMED,
			  .means = "how long it took, 0 unknown"),
	PCTL_RECORD_FIELD(LIST, "plugins", answer, plugins, .n_at = offsetof(answer, n_plugins),
			  .bound = PCTL_MEMO_PLUGINS_MAX, .flags = PCTL_RECORD_WITHIN, .of = &part,
			  .means = "files whose code took part"),
	PCTL_RECORD_FIELD(LIST, "out", answer, outputs, .n_at = offsetof(answer, n_outputs),
			  .bound = PCTL_MEMO_OUTPUTS_MAX, .of = &output_row,
			  .flags = PCTL_RECORD_WITHIN | PCTL_RECORD_NAMED, .means = "outputs")};
static const pctl_record_shape shape = PCTL_RECORD_OF_LINES(fields, PCTL_RECORD_LINES, ' ', answer);
const pctl_record_type pctl_memo_type = {
	.opening = "pipectl-memo 4\n",
	.shape = &shape,
	.quoting = PCTL_RECORD_PLAIN,
	.form = PC5010_CAS_MEMO_RECORD,
	.contradicts = PC5010_CAS_MEMO_RECORD,
	.title = "Answer of a job",
	.where = "`memo/XX/KEY`; a line `sum` with the SHA-256 of those before it ends it; what is "
		 "not "
		 "so is a miss",
};

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

int pctl_memo_is_valid(const pctl_memo_record *r)
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

/* ---- texts -------------------------------------------------------------------------------- */

static pctl_status add_sum(pctl_str_buf *s, size_t n)
{
	pctl_cid sum = {{0}};
	pctl_status status = s->failed ? PCTL_E_NOMEM : pctl_cid_of(s->data, n, NULL, &sum);

	pctl_str_add(s, "sum ");
	pctl_hex_add(s, sum.digest, PCTL_DIGEST_BYTES);
	pctl_str_add(s, "\n");
	return status;
}

char *pctl_memo_seal(const pctl_record_type *t, const void *record)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;

	pctl_record_text(t, record, &s);
	if (add_sum(&s, s.n) == PCTL_OK)
		return pctl_str_finish(&s);
	pctl_str_drop(&s);
	return NULL;
}

int pctl_memo_read(const pctl_record_type *t, const char *path, uint64_t most, void *record,
		   size_t size)
{
	static const size_t n_sum =
		5 + 2 * PCTL_DIGEST_BYTES; /* "sum ", the digits, the line end */
	pctl_arena *arena = pctl_arena_create();
	pctl_str_buf again = PCTL_STR_BUF_INIT;
	char *text = NULL;
	uint64_t n = 0;
	int good = arena != NULL && pctl_file_read(path, most, NULL, &text, &n) == PCTL_OK &&
		   n > n_sum;

	memset(record, 0, size);
	if (good) {
		pctl_str_add_n(&again, text, n - n_sum);
		good = add_sum(&again, n - n_sum) == PCTL_OK && !again.failed && again.n == n &&
		       memcmp(again.data, text, n) == 0 &&
		       pctl_record_read_exact(t, path, text, n - n_sum, arena, NULL, record) ==
			       PCTL_OK;
	}
	if (!good)
		memset(record, 0, size);
	pctl_str_drop(&again);
	free(text);
	pctl_arena_destroy(arena);
	return good;
}
