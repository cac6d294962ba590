/* The history of blocks: ids, reading, refusals; what the git program says about it is in tests/integration/gitlog. */
#include "main.h"

#include <dirent.h>
#include <git2.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "foundation/base/file.h"
#include "chain/history/gitlog.h"

static uint32_t last_code;

static void keep_code(void *ctx, const pctl_diag *d)
{
	(void)ctx;
	last_code = d->code;
}

static const pctl_call telling = {.head = PCTL_HEAD(pctl_call), .diag = keep_code};

typedef struct rig {
	char dir[64], path[96];
	pctl_gitlog *log;
} rig;

static void rig_open(rig *r)
{
	strcpy(r->dir, "/tmp/pctl-gitlog-XXXXXX");
	assert_non_null(mkdtemp(r->dir));
	snprintf(r->path, sizeof(r->path), "%s/log", r->dir);
	assert_int_equal(pctl_gitlog_open(r->path, &telling, &r->log), PCTL_OK);
	last_code = 0;
}

static void rig_close(rig *r)
{
	char command[128];

	pctl_gitlog_close(r->log);
	snprintf(command, sizeof(command), "rm -rf %s", r->dir);
	assert_int_equal(system(command), 0);
}

static const pctl_gitlog_file two[] = {{"results", "r", 1, 1, 0}, {"receipts/all", "", 0, 0, 0}};

static pctl_gitlog_oid block(rig *r, const pctl_gitlog_oid *parent, uint64_t clock)
{
	pctl_gitlog_oid oid;

	assert_int_equal(pctl_gitlog_write(r->log, parent, two, 2, "block", clock, &telling, &oid),
			 PCTL_OK);
	return oid;
}

static void test_chain_gitlog__an_id_is_what_git_gives(void **state)
{
	/* git hash-object -w; git mktree; GIT_AUTHOR_DATE="@7 +0000" ... git commit-tree -m block */
	static const char want[] = "f872a8baea665d1d2688785ffe6fc3a13b4b994f";
	const pctl_gitlog_file turned[] = {two[1], two[0]};
	char hex[PCTL_GITLOG_OID_TEXT_SIZE];
	pctl_gitlog_oid oid, again, back;
	rig r;

	(void)state;
	rig_open(&r);
	oid = block(&r, NULL, 7);
	assert_string_equal(pctl_gitlog_oid_format(&oid, hex), want);
	assert_int_equal(pctl_gitlog_write(r.log, NULL, turned, 2, "block\n", 7, &telling, &again),
			 PCTL_OK);
	assert_memory_equal(&oid, &again, sizeof(oid));
	assert_true(pctl_gitlog_oid_parse(hex, &back));
	assert_memory_equal(&oid, &back, sizeof(oid));
	hex[3] = 'F';
	assert_false(pctl_gitlog_oid_parse(hex, &back));
	assert_false(pctl_gitlog_oid_parse("12", &back));
	rig_close(&r);
}

static int count(void *ctx, const pctl_gitlog_commit *c)
{
	uint64_t *n = ctx;

	assert_true(c->clock == 10 - *n);
	return ++*n == 3;
}

static void test_chain_gitlog__read_walk_point(void **state)
{
	pctl_gitlog_oid oid, tip;
	pctl_gitlog_commit c;
	uint64_t n = 0;
	void *data;
	rig r;

	(void)state;
	rig_open(&r);
	oid = block(&r, NULL, 1);
	assert_false(pctl_gitlog_tip(r.log, &tip));
	for (uint64_t clock = 2; clock <= 10; clock++)
		oid = block(&r, &oid, clock);
	assert_int_equal(pctl_gitlog_look(r.log, &oid, &telling, &c), PCTL_OK);
	assert_true(c.clock == 10 && c.has_parent);
	assert_int_equal(pctl_gitlog_walk(r.log, &oid, &telling, count, &n), PCTL_OK);
	assert_true(n == 3);
	assert_int_equal(pctl_gitlog_read(r.log, &oid, "results", &telling, &data, &n), PCTL_OK);
	assert_true(n == 1 && memcmp(data, "r", 1) == 0);
	free(data);
	assert_int_equal(pctl_gitlog_read(r.log, &oid, "receipts/all", &telling, &data, &n),
			 PCTL_OK);
	assert_true(n == 0);
	free(data);
	assert_int_equal(pctl_gitlog_repair(r.log, &oid, &telling), PCTL_OK);
	assert_true(pctl_gitlog_tip(r.log, &tip));
	assert_memory_equal(&oid, &tip, sizeof(oid));
	assert_int_equal(pctl_gitlog_point(r.log, &c.parent, &telling), PCTL_OK);
	assert_int_equal(pctl_gitlog_repair(r.log, NULL, &telling), PCTL_OK);
	assert_true(pctl_gitlog_tip(r.log, &tip));
	assert_memory_equal(&c.parent, &tip, sizeof(oid)); /* none named: left alone */
	assert_int_equal(pctl_gitlog_verify(r.log, &oid, &telling, &n), PCTL_OK);
	assert_true(n == 10);
	rig_close(&r);
}

static void refused(rig *r, const pctl_gitlog_file *files, uint32_t n, const char *message,
		    uint64_t clock, uint32_t code)
{
	pctl_gitlog_oid oid;

	last_code = 0;
	assert_int_not_equal(
		pctl_gitlog_write(r->log, NULL, files, n, message, clock, &telling, &oid), PCTL_OK);
	assert_int_equal(last_code, code);
}

static void test_chain_gitlog__refusals_are_named(void **state)
{
	const pctl_gitlog_file bad = {"a/b/c", "", 0, 0, 0},
			       both[] = {{"a", "", 0, 0, 0}, {"a/b", "", 0, 0, 0}};
	pctl_gitlog_oid oid, none, next;
	pctl_gitlog *other;
	uint64_t n;
	void *data;
	rig r;

	(void)state;
	rig_open(&r);
	refused(&r, &bad, 1, "m", 1, PC5750_GITLOG_BLOCK);
	refused(&r, both, 2, "m", 1, PC5750_GITLOG_BLOCK);
	refused(&r, two, 0, "m", 1, PC5750_GITLOG_BLOCK);
	refused(&r, two, 2, "", 1, PC5750_GITLOG_BLOCK);
	refused(&r, two, 2, "m\t", 1, PC5750_GITLOG_BLOCK);
	refused(&r, two, 2, "m", PCTL_GITLOG_CLOCK_MAX + 1, PC5750_GITLOG_BLOCK);
	oid = block(&r, NULL, 5);
	assert_int_equal(pctl_gitlog_write(r.log, &oid, two, 2, "m", 4, &telling, &next),
			 PCTL_E_STORE);
	assert_int_equal(last_code, PC5756_GITLOG_CLOCK);
	memset(&none, 1, sizeof(none));
	assert_int_equal(pctl_gitlog_point(r.log, &none, &telling), PCTL_E_STORE);
	assert_int_equal(last_code, PC5753_GITLOG_MISSING);
	assert_int_equal(pctl_gitlog_read(r.log, &oid, "receipts", &telling, &data, &n),
			 PCTL_E_NOT_FOUND);
	assert_int_equal(last_code, PC5758_GITLOG_NO_FILE);
	assert_int_equal(pctl_gitlog_open(r.dir, &telling, &other), PCTL_E_STORE);
	assert_int_equal(last_code, PC5752_GITLOG_FOREIGN);
	assert_null(other);
	rig_close(&r);
}

static void test_chain_gitlog__a_directory_in_the_way(void **state)
{
	char path[128];
	pctl_gitlog_oid oid;
	rig r;

	(void)state;
	rig_open(&r);
	oid = block(&r, NULL, 1);
	snprintf(path, sizeof(path), "%s/refs/heads/blocks", r.path);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(pctl_gitlog_point(r.log, &oid, &telling), PCTL_E_STORE);
	assert_int_equal(last_code, PC5751_GITLOG_IO);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(pctl_gitlog_point(r.log, &oid, &telling), PCTL_OK);
	rig_close(&r);
}

/* ---- commits that write does not make ----------------------------------------------------- */

static pctl_gitlog_oid by_hand(rig *r, const char *who, uint64_t clock, git_filemode_t mode,
			       const pctl_gitlog_oid *parents, size_t n_parents)
{
	git_repository *repo;
	git_treebuilder *builder;
	git_signature *signature;
	git_tree *tree;
	git_commit *before[2] = {NULL, NULL};
	git_oid blob, id;
	pctl_gitlog_oid oid;

	assert_int_equal(git_repository_open_bare(&repo, r->path), 0);
	assert_int_equal(git_blob_create_from_buffer(&blob, repo, "x", 1), 0);
	assert_int_equal(git_treebuilder_new(&builder, repo, NULL), 0);
	assert_int_equal(git_treebuilder_insert(NULL, builder, "x", &blob, mode), 0);
	assert_int_equal(git_treebuilder_write(&id, builder), 0);
	assert_int_equal(git_tree_lookup(&tree, repo, &id), 0);
	for (size_t i = 0; i < n_parents; i++) {
		git_oid_fromraw(&id, parents[i].id);
		assert_int_equal(git_commit_lookup(&before[i], repo, &id), 0);
	}
	assert_int_equal(git_signature_new(&signature, who, PCTL_GITLOG_MAIL, (git_time_t)clock, 0),
			 0);
	assert_int_equal(git_commit_create(&id, repo, NULL, signature, signature, NULL, "m\n", tree,
					   n_parents, (const git_commit **)before),
			 0);
	memcpy(oid.id, id.id, sizeof(oid.id));
	git_commit_free(before[0]);
	git_commit_free(before[1]);
	git_signature_free(signature);
	git_tree_free(tree);
	git_treebuilder_free(builder);
	git_repository_free(repo);
	return oid;
}

static uint32_t verified(rig *r, const pctl_gitlog_oid *oid)
{
	uint64_t n;

	last_code = 0;
	(void)pctl_gitlog_verify(r->log, oid, &telling, &n);
	return last_code;
}

static void test_chain_gitlog__verify_finds_what_is_no_block(void **state)
{
	pctl_gitlog_oid oid, parents[2];
	rig r;

	(void)state;
	rig_open(&r);
	oid = parents[0] = block(&r, NULL, 5);
	parents[1] = block(&r, NULL, 6);
	oid = by_hand(&r, PCTL_GITLOG_WHO, 7, GIT_FILEMODE_BLOB, parents, 1);
	assert_int_equal(verified(&r, &oid), 0);
	oid = by_hand(&r, "eve", 7, GIT_FILEMODE_BLOB, parents, 1);
	assert_int_equal(verified(&r, &oid), PC5755_GITLOG_FORM);
	oid = by_hand(&r, PCTL_GITLOG_WHO, 4, GIT_FILEMODE_BLOB, parents, 1);
	assert_int_equal(verified(&r, &oid), PC5756_GITLOG_CLOCK);
	oid = by_hand(&r, PCTL_GITLOG_WHO, 7, GIT_FILEMODE_BLOB_EXECUTABLE, parents, 1);
	assert_int_equal(verified(&r, &oid), PC5757_GITLOG_TREE);
	oid = by_hand(&r, PCTL_GITLOG_WHO, 7, GIT_FILEMODE_BLOB, parents, 2);
	assert_int_equal(verified(&r, &oid), PC5759_GITLOG_LINEAR);
	rig_close(&r);
}

static void test_chain_gitlog__a_changed_pack_is_found(void **state)
{
	char path[256] = "", *data;
	const struct dirent *e;
	pctl_gitlog_oid oid;
	uint64_t n;
	DIR *dir;
	rig r;

	(void)state;
	rig_open(&r);
	oid = block(&r, NULL, 5);
	snprintf(path, sizeof(path), "%s/objects/pack", r.path);
	dir = opendir(path);
	assert_non_null(dir);
	while ((e = readdir(dir)) != NULL)
		if (strstr(e->d_name, ".pack") != NULL)
			snprintf(path, sizeof(path), "%s/objects/pack/%.100s", r.path, e->d_name);
	closedir(dir);
	assert_int_equal(pctl_file_read(path, 1 << 20, &telling, &data, &n), PCTL_OK);
	data[40] ^= 4;
	assert_int_equal(pctl_file_write(path, data, n, 0, &telling), PCTL_OK);
	free(data);
	assert_int_equal(verified(&r, &oid), PC5754_GITLOG_DAMAGED);
	rig_close(&r);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_chain_gitlog__an_id_is_what_git_gives),
		PCTL_TEST(test_chain_gitlog__read_walk_point),
		PCTL_TEST(test_chain_gitlog__refusals_are_named),
		PCTL_TEST(test_chain_gitlog__a_directory_in_the_way),
		PCTL_TEST(test_chain_gitlog__verify_finds_what_is_no_block),
		PCTL_TEST(test_chain_gitlog__a_changed_pack_is_found))
