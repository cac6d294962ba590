/* Judging a library: first by its file alone, then by what is remembered of it, and only then by a
 * probe. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "foundation/base/file.h"
#include "foundation/base/num.h"
#include "foundation/base/str.h"
#include "runtime/cas/cid.h"
#include "runtime/plugin/registry_private.h"

#define VERDICTS_MAX 256u

/* Which file and question it speaks of, then what was learnt. */
typedef struct verdict_row {
	const char *host, *path, *file, *question, *sha256, *version, *ops;
	uint32_t major, minor;
} verdict_row;

#define VERDICT(KIND, M, MEANS) PCTL_RECORD_FIELD(KIND, #M, verdict_row, M, .means = MEANS)
static const pctl_record_field fields[] = {
	VERDICT(TEXT, host, "version of pipectl"),
	VERDICT(TEXT, path, "of the library"),
	VERDICT(TEXT, file, "size, times and inode: is it the same"),
	VERDICT(TEXT, question, "id and interfaces that were looked for"),
	VERDICT(TEXT, sha256, "of the library"),
	VERDICT(TEXT, version, "of the plugin"),
	VERDICT(U32, major, "of the ABI"),
	VERDICT(U32, minor, "of the ABI"),
	VERDICT(TEXT, ops, "that it defines, `name@version`")};
PCTL_KEPT(verdicts, verdict_row, fields, "pipectl plugin verdicts 1", PC3031_PLUGIN_STORE,
	  "Verdicts on plugins", "`cache/plugins.tsv` in pipectl's home; a damaged one is none");

static verdict_row *verdicts(const pctl_registry *r)
{
	return (verdict_row *)(void *)r->verdicts.rows;
}

static void refuse(pctl_registry *r, known_plugin *p, uint32_t code, const char *fmt,
		   const char *more)
{
	const char *text = pctl_arena_printf(r->arena, "%s: %s%s", p->info.library, fmt, more);

	pctl_plugin_refuse(r, p, code, "examination of the file", text);
}

/* A file that could not be examined is not one that passed. */
static void refuse_for_memory(pctl_registry *r, known_plugin *p)
{
	pctl_plugin_refuse(r, p, PC2_NOMEM, "examination of the file",
			   "there is no memory to examine it");
}

/* The machine this process was built for, read from its own file. */
static int own_header(Elf64_Ehdr *out)
{
	const int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return 0;
	n = read(fd, out, sizeof(*out));
	close(fd);
	return n == (ssize_t)sizeof(*out);
}

/* Do all loadable segments lie inside the file? The linker maps them without looking, and touching
 * what is not there is a bus error. */
static int segments_inside(int fd, const Elf64_Ehdr *h)
{
	struct stat st;
	uint32_t i;

	if (fstat(fd, &st) < 0 || h->e_phentsize != sizeof(Elf64_Phdr))
		return 0;
	for (i = 0; i < h->e_phnum; i++) {
		uint64_t at, end;
		Elf64_Phdr p;

		if (!pctl_num_add(h->e_phoff, (uint64_t)i * sizeof(p), &at) || at > INT64_MAX ||
		    pread(fd, &p, sizeof(p), (off_t)at) != (ssize_t)sizeof(p) ||
		    !pctl_num_add(p.p_offset, p.p_filesz, &end))
			return 0;
		if (p.p_type == PT_LOAD && end > (uint64_t)st.st_size)
			return 0;
	}
	return 1;
}

static void check_elf(pctl_registry *r, known_plugin *p)
{
	const int fd = p->sealed_fd;
	Elf64_Ehdr own, h;
	ssize_t n;

	memset(&h, 0, sizeof(h));
	n = pread(fd, &h, sizeof(h), 0);
	if (n == 0)
		refuse(r, p, PC3008_PLUGIN_EMPTY, "has no bytes", "");
	else if (n < (ssize_t)EI_NIDENT || memcmp(h.e_ident, ELFMAG, SELFMAG) != 0)
		refuse(r, p, PC3009_PLUGIN_NOT_ELF, "does not begin as an ELF file", "");
	else if (!own_header(&own))
		return;
	/* Class and byte order first: they say how the rest is to be read. */
	else if (h.e_ident[EI_CLASS] != own.e_ident[EI_CLASS] ||
		 h.e_ident[EI_DATA] != own.e_ident[EI_DATA] || h.e_machine != own.e_machine)
		refuse(r, p, PC3010_PLUGIN_MACHINE, "is an ELF file of another machine", "");
	else if (h.e_type != ET_DYN)
		refuse(r, p, PC3009_PLUGIN_NOT_ELF, "is an ELF file, but no shared object", "");
	else if (h.e_ident[EI_CLASS] == ELFCLASS64 && !segments_inside(fd, &h))
		refuse(r, p, PC3034_PLUGIN_TRUNCATED, "ends before its last segment does", "");
}

int pctl_plugin_hash_file(const char *path, char hex[2 * PCTL_DIGEST_BYTES + 1])
{
	static const size_t chunk = 1u << 16;
	int fd = open(path, O_RDONLY | O_CLOEXEC), ok = 0;
	uint8_t *buf = malloc(chunk);
	pctl_hasher *h = NULL;
	pctl_cid cid;
	ssize_t n;

	if (fd < 0 || !buf || pctl_hasher_create(NULL, &h))
		goto out;
	while ((n = read(fd, buf, chunk)) > 0)
		if (pctl_hasher_update(h, buf, (uint64_t)n))
			goto out;
	if (n < 0 || pctl_hasher_finish(h, &cid))
		goto out;
	h = NULL;
	pctl_digest_hex(cid.digest, hex);
	ok = 1;
out:
	pctl_hasher_destroy(h);
	free(buf);
	if (fd >= 0)
		close(fd);
	return ok;
}

static void check_sha256(pctl_registry *r, known_plugin *p)
{
	if (p->pinned_sha256 && strcmp(p->pinned_sha256, p->info.sha256))
		refuse(r, p, PC3011_PLUGIN_SHA256, "has SHA-256 ",
		       pctl_arena_printf(r->arena, "%s, %s wants %s", p->info.sha256,
					 p->info.manifest, p->pinned_sha256));
	pctl_rules_check_sha256(r, p);
	p->info.vouched = (uint32_t)pctl_rules_vouch(r, p);
	if (p->info.roles & PCTL_ROLE_SYNTHETIC && !p->info.vouched)
		pctl_plugin_refuse(
			r, p, PC3037_PLUGIN_SYNTHETIC, p->info.manifest,
			pctl_arena_printf(
				r->arena,
				"%s declares the role synthetic, and %s (SHA-256 %s) is not "
				"of this pipectl",
				p->info.manifest, p->info.library, p->info.sha256));
}

/* ---- what is remembered ------------------------------------------------------------------- */

static const char *file_identity(pctl_arena *a, const struct stat *st)
{
	return pctl_arena_printf(a, "%lld %lld.%09ld %lld.%09ld %llu:%llu", (long long)st->st_size,
				 (long long)st->st_mtim.tv_sec, st->st_mtim.tv_nsec,
				 (long long)st->st_ctim.tv_sec, st->st_ctim.tv_nsec,
				 (unsigned long long)st->st_dev, (unsigned long long)st->st_ino);
}

/* What the probe was told to look for. */
static const char *question(pctl_arena *a, const known_plugin *p)
{
	pctl_str_buf b = PCTL_STR_BUF_INIT;
	const char *out;
	uint32_t i;
	char *text;

	pctl_str_add(&b, p->info.id);
	for (i = 0; i < p->info.n_interfaces; i++)
		pctl_str_addf(&b, " %s", p->info.interfaces[i]);
	text = pctl_str_finish(&b);
	out = pctl_arena_dup(a, text);
	free(text);
	return out;
}

static const char *join_ops(pctl_arena *a, const pctl_plugin_info *info)
{
	pctl_str_buf b = PCTL_STR_BUF_INIT;
	const char *out;
	uint32_t i;
	char *text;

	pctl_str_add(&b, "");
	for (i = 0; i < info->n_ops; i++)
		pctl_str_addf(&b, "%s%s@%u", i ? " " : "", info->ops[i].name, info->ops[i].version);
	text = pctl_str_finish(&b);
	out = pctl_arena_dup(a, text ? text : "");
	free(text);
	return out;
}

static int recall(pctl_registry *r, known_plugin *p, const char *file, const char *asked)
{
	const verdict_row *row = NULL;
	const char *ops;

	for (uint32_t i = 0; i < r->verdicts.n && !row; i++) {
		const verdict_row *v = &verdicts(r)[i];

		if (!strcmp(v->host, PIPECTL_VERSION) && !strcmp(v->path, p->info.library) &&
		    !strcmp(v->file, file) && !strcmp(v->question, asked))
			row = v;
	}
	/* The manifest may have changed since: what it promises was compared with these ops. */
	ops = row ? join_ops(r->arena, &p->info) : NULL;
	if (!ops || strcmp(row->ops, ops))
		return 0;
	p->info.sha256 = row->sha256;
	p->info.version = row->version;
	p->info.abi_major = row->major;
	p->info.abi_minor = row->minor;
	check_sha256(r, p);
	return 1;
}

static int forget(pctl_registry *r, const char *library, const char *asked)
{
	for (uint32_t i = 0; i < r->verdicts.n; i++)
		if (!strcmp(verdicts(r)[i].path, library) &&
		    !strcmp(verdicts(r)[i].question, asked)) {
			pctl_kept_remove(&r->verdicts, i);
			return 1;
		}
	return 0;
}

static void remember(pctl_registry *r, const known_plugin *p, const char *file, const char *asked)
{
	const pctl_plugin_info *info = &p->info;
	const char *ops = join_ops(r->arena, info);
	const verdict_row row = {.host = PIPECTL_VERSION,
				 .path = info->library,
				 .file = file,
				 .question = asked,
				 .sha256 = info->sha256,
				 .version = info->version,
				 .ops = ops,
				 .major = info->abi_major,
				 .minor = info->abi_minor};

	forget(r, info->library, asked);
	if (r->verdicts.n >= VERDICTS_MAX)
		pctl_kept_remove(&r->verdicts, 0);
	/* Without memory it is examined again next time. */
	if (ops && pctl_kept_add(&r->verdicts, &row))
		r->verdicts_changed = 1;
}

void pctl_examine_save(pctl_registry *r, const pctl_call *call)
{
	const char *dir = pctl_registry_cache(r, NULL);
	const char *path = pctl_registry_cache(r, "plugins.tsv");

	(void)call;
	/* A verdict that cannot be kept is only slower next time: no reason to fail or to speak. */
	if (r->verdicts_changed && path && !pctl_file_make_dirs(dir, NULL))
		pctl_kept_save(&r->verdicts, path, 0, NULL);
	r->verdicts_changed = 0;
}

void pctl_examine_forget(pctl_registry *r, const known_plugin *p, const pctl_call *call)
{
	const char *asked = question(r->arena, p);

	if (asked && forget(r, p->info.library, asked)) {
		r->verdicts_changed = 1;
		pctl_examine_save(r, call);
	}
}

static void load_verdicts(pctl_registry *r)
{
	const int fresh = (r->flags & PCTL_REGISTRY_FRESH) != 0;

	if (!r->verdicts.type)
		(void)pctl_kept_load(&r->verdicts, &pctl_verdicts_type, r->arena,
				     fresh ? NULL : pctl_registry_cache(r, "plugins.tsv"), NULL);
}

/* ---- the whole ---------------------------------------------------------------------------- */

static int abi_in_range(const known_plugin *p)
{
	const uint64_t host = (uint64_t)PCTL_ABI_MAJOR << 32 | PCTL_ABI_MINOR;

	return ((uint64_t)p->abi_min[0] << 32 | p->abi_min[1]) <= host &&
	       host <= ((uint64_t)p->abi_max[0] << 32 | p->abi_max[1]);
}

void pctl_examine(pctl_registry *r, known_plugin *p)
{
	char hex[2 * PCTL_DIGEST_BYTES + 1], reason[128];
	const char *file, *asked;
	char *real, *library;
	struct stat st;

	load_verdicts(r);
	if (!abi_in_range(p)) {
		pctl_plugin_refuse(
			r, p, PC3016_PLUGIN_ABI, p->info.manifest,
			pctl_arena_printf(r->arena,
					  "works with ABI %u.%u to %u.%u, this host speaks %u.%u",
					  p->abi_min[0], p->abi_min[1], p->abi_max[0],
					  p->abi_max[1], PCTL_ABI_MAJOR, PCTL_ABI_MINOR));
		return;
	}
	real = realpath(p->info.library, NULL);
	if (!real || stat(real, &st) < 0 || !S_ISREG(st.st_mode)) {
		refuse(r, p, PC3007_PLUGIN_LIBRARY,
		       real ? "is not a regular file" : "there is no such file", "");
		goto out;
	}
	library = pctl_arena_dup(r->arena, real);
	file = file_identity(r->arena, &st);
	p->info.library = library ? library : p->info.library;
	asked = library ? question(r->arena, p) : NULL;
	if (!file || !asked) {
		refuse_for_memory(r, p);
		goto out;
	}
	if (recall(r, p, file, asked))
		goto out;
	p->sealed_fd = pctl_sealed_copy(real, hex);
	if (p->sealed_fd < 0) {
		refuse(r, p, PC3007_PLUGIN_LIBRARY,
		       "cannot be read: ", strerror_r(errno, reason, sizeof(reason)));
		goto out;
	}
	check_elf(r, p);
	if (p->info.state != PCTL_PLUGIN_USABLE)
		goto out;
	p->info.sha256 = pctl_arena_dup(r->arena, hex);
	if (!p->info.sha256) {
		refuse_for_memory(r, p);
		goto out;
	}
	check_sha256(r, p);
	if (p->info.state == PCTL_PLUGIN_USABLE)
		pctl_probe_run(r, p);
	if (p->info.state == PCTL_PLUGIN_USABLE)
		remember(r, p, file, asked);
out:
	free(real);
}
