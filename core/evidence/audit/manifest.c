/* Implementation of manifest.h. The text is libconfig's grammar, one file a line. */
#include "evidence/audit/manifest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "foundation/base/file.h"
#include "foundation/base/num.h"
#include "foundation/base/str.h"
#include "foundation/base/hex.h"

#define DEEPEST 16u
#define MOST_FILES 65536u
#define PIECE (1u << 20)

typedef struct walk {
	const char *dir;
	pctl_arena *arena;
	const pctl_call *call;
	pctl_listed_file *files;
	uint32_t n, cap;
} walk;

/* ---- the directory ------------------------------------------------------------------------------ */

static pctl_status hash_file(walk *w, const char *path, pctl_listed_file *f)
{
	uint8_t *piece = malloc(PIECE);
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	pctl_hasher *h = NULL;
	pctl_status status = PCTL_OK;
	ssize_t n = 0;
	pctl_cid cid;

	if (piece == NULL)
		status = pctl_no_memory(w->call, "a file");
	else if (fd < 0)
		status = pctl_refuse(w->call, PC3_IO, "%s: %s", path, strerror(errno));
	if (status == PCTL_OK)
		status = pctl_hasher_create(w->call, &h);
	while (status == PCTL_OK && (n = read(fd, piece, PIECE)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			status = pctl_refuse(w->call, PC3_IO, "%s: %s", path, strerror(errno));
		else
			status = pctl_hasher_update(h, piece, (uint64_t)n);
		f->n_bytes += n < 0 ? 0 : (uint64_t)n;
	}
	if (status == PCTL_OK) {
		status = pctl_hasher_finish(h, &cid);
		memcpy(f->digest, cid.digest, sizeof(f->digest));
		h = NULL;
	}
	pctl_hasher_destroy(h);
	if (fd >= 0)
		close(fd);
	free(piece);
	return status;
}

static pctl_status add_file(walk *w, const char *path, const char *relative)
{
	pctl_listed_file *f;

	if (w->n == MOST_FILES)
		return pctl_refuse(w->call, PC3_IO, "%s holds more than %u files", w->dir,
				   MOST_FILES);
	if (w->n == w->cap) {
		const uint32_t cap = w->cap == 0 ? 64 : 2 * w->cap;
		pctl_listed_file *grown = pctl_arena_array(w->arena, cap, sizeof(*grown));

		if (grown == NULL)
			return pctl_no_memory(w->call, "a list of files");
		if (w->n != 0)
			memcpy(grown, w->files, w->n * sizeof(*grown));
		w->files = grown;
		w->cap = cap;
	}
	f = &w->files[w->n];
	*f = (pctl_listed_file){.path = pctl_arena_dup(w->arena, relative)};
	if (f->path == NULL)
		return pctl_no_memory(w->call, "a list of files");
	w->n++;
	return hash_file(w, path, f);
}

static pctl_status walk_dir(walk *w, const char *relative, uint32_t depth);

static pctl_status walk_entry(walk *w, const char *relative, const char *name, uint32_t depth)
{
	const char *below =
		relative[0] == '\0' ? name : pctl_arena_printf(w->arena, "%s/%s", relative, name);
	const char *path =
		below == NULL ? NULL : pctl_arena_printf(w->arena, "%s/%s", w->dir, below);
	struct stat st;

	if (path == NULL)
		return pctl_no_memory(w->call, "a list of files");
	if (strcmp(below, PCTL_MANIFEST_NAME) == 0)
		return PCTL_OK;
	if (lstat(path, &st) != 0)
		return pctl_refuse(w->call, PC3_IO, "%s: %s", path, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return walk_dir(w, below, depth + 1);
	if (!S_ISREG(st.st_mode))
		return pctl_refuse(w->call, PC3_IO, "%s is neither a file nor a directory", path);
	return add_file(w, path, below);
}

static pctl_status walk_dir(walk *w, const char *relative, uint32_t depth)
{
	const char *path = relative[0] == '\0'
				   ? w->dir
				   : pctl_arena_printf(w->arena, "%s/%s", w->dir, relative);
	pctl_status status = PCTL_OK;
	struct dirent *e;
	DIR *d;

	if (depth > DEEPEST)
		return pctl_refuse(w->call, PC3_IO, "%s is more than %u directories deep", w->dir,
				   DEEPEST);
	d = path == NULL ? NULL : opendir(path);
	if (d == NULL)
		return pctl_refuse(w->call, PC3_IO, "%s: %s", path == NULL ? w->dir : path,
				   strerror(errno));
	while (status == PCTL_OK && (e = readdir(d)) != NULL) {
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			status = walk_entry(w, relative, e->d_name, depth);
	}
	closedir(d);
	return status;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const pctl_listed_file *)a)->path, ((const pctl_listed_file *)b)->path);
}

pctl_status pctl_filelist_walk(const char *dir, pctl_arena *arena, const pctl_call *call,
			       pctl_listed_file **out, uint32_t *n_out)
{
	walk w = {.dir = dir, .arena = arena, .call = call};
	pctl_status status = walk_dir(&w, "", 0);

	*out = NULL;
	*n_out = 0;
	if (status != PCTL_OK)
		return status;
	if (w.n != 0)
		qsort(w.files, w.n, sizeof(*w.files), by_path);
	*out = w.files;
	*n_out = w.n;
	return PCTL_OK;
}

/* ---- the text ----------------------------------------------------------------------------------- */

static const char opening[] =
	"manifest : {\n  schema = \"pipectl.audit-manifest/1\";\n  files = (\n";
static const char closing[] = "  );\n};\n";
static const char path_is[] = "    { path = \"";
static const char bytes_are[] = "\"; bytes = \"";
static const char digest_is[] = "\"; sha256 = \"";
static const char file_ends[] = "\"; }";

/* Names are any bytes but '/' and NUL; libconfig writes what it must as \xHH. */
static void add_path(pctl_str_buf *s, const char *path)
{
	for (const unsigned char *at = (const unsigned char *)path; *at != '\0'; at++) {
		if (*at < 0x20 || *at == '"' || *at == '\\' || *at >= 0x7f)
			pctl_str_addf(s, "\\x%02x", *at);
		else
			pctl_str_add_n(s, (const char *)at, 1);
	}
}

char *pctl_filelist_text(const pctl_listed_file *files, uint32_t n)
{
	char hex[2 * PCTL_DIGEST_BYTES + 1];
	pctl_str_buf s = PCTL_STR_BUF_INIT;

	pctl_str_add(&s, opening);
	for (uint32_t i = 0; i < n; i++) {
		pctl_str_add(&s, path_is);
		add_path(&s, files[i].path);
		pctl_str_addf(&s, "%s%" PRIu64 "%s%s%s%s\n", bytes_are, files[i].n_bytes, digest_is,
			      pctl_digest_hex(files[i].digest, hex), file_ends,
			      i + 1 < n ? "," : "");
	}
	pctl_str_add(&s, closing);
	return pctl_str_finish(&s);
}

/* Moves *at past `word`; 0 when something else stands there. */
static int take(const char **at, const char *word)
{
	const size_t n = strlen(word);

	if (strncmp(*at, word, n) != 0)
		return 0;
	*at += n;
	return 1;
}

/* Up to the next quote into the arena, escapes undone; NULL when there is none in this line. */
static const char *take_quoted(const char **at, pctl_arena *arena)
{
	const size_t n = strcspn(*at, "\"\n");
	char *out = pctl_arena_alloc(arena, n + 1), *to = out;
	const char *end = *at + n;

	if (out == NULL || *end != '"')
		return NULL;
	while (*at < end) {
		if (**at != '\\') {
			*to++ = *(*at)++;
			continue;
		}
		if (end - *at < 4 || (*at)[1] != 'x' || !pctl_hex_parse(*at + 2, 1, to))
			return NULL;
		to++;
		*at += 4;
	}
	*to = '\0';
	return out;
}

static int take_file(const char **at, pctl_arena *arena, pctl_listed_file *out)
{
	const char *bytes, *digest;

	if (!take(at, path_is) || (out->path = take_quoted(at, arena)) == NULL ||
	    !take(at, bytes_are) || (bytes = take_quoted(at, arena)) == NULL ||
	    !take(at, digest_is) || (digest = take_quoted(at, arena)) == NULL ||
	    !take(at, file_ends))
		return 0;
	(void)take(at, ",");
	return take(at, "\n") && pctl_num_parse_u64(bytes, strlen(bytes), &out->n_bytes) &&
	       pctl_digest_parse_hex(digest, out->digest);
}

pctl_status pctl_filelist_read(const char *name, const char *text, size_t n, pctl_arena *arena,
			       const pctl_call *call, pctl_listed_file **out, uint32_t *n_out)
{
	const char *copy = pctl_arena_dup_n(arena, text, n), *at = copy;
	uint32_t lines = 0, k = 0;
	pctl_listed_file *files;

	*out = NULL;
	*n_out = 0;
	for (size_t i = 0; i < n; i++)
		lines += text[i] == '\n';
	files = pctl_arena_array(arena, lines + 1u, sizeof(*files));
	if (copy == NULL || files == NULL)
		return pctl_no_memory(call, "a manifest");
	if (!take(&at, opening))
		return pctl_refuse(call, PC5611_REPORT_MANIFEST,
				   "%s does not begin as a manifest of an audit", name);
	while (!take(&at, closing)) {
		if (!take_file(&at, arena, &files[k]))
			return pctl_refuse(call, PC5611_REPORT_MANIFEST,
					   "%s: entry %" PRIu32
					   " is not a file with size and digest",
					   name, k + 1);
		k++;
	}
	if (*at != '\0' || (size_t)(at - copy) != n)
		return pctl_refuse(call, PC5611_REPORT_MANIFEST,
				   "%s goes on behind the list of files", name);
	*out = files;
	*n_out = k;
	return PCTL_OK;
}
