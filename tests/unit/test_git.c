/* Places, revisions and names, in repositories that libgit2 makes; what the git program makes is in tests/integration/repo. */
#include "main.h"

#include <git2.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "foundation/base/file.h"
#include "foundation/git/git.h"
#include "foundation/git/immutable.h"
#include "foundation/git/repo.h"
#include "foundation/git/released.h"

static uint32_t last_code;

static void keep_code(void *ctx, const pctl_diag *d)
{
	(void)ctx;
	last_code = d->code;
}

static const pctl_call telling = {.head = PCTL_HEAD(pctl_call), .diag = keep_code};

typedef struct rig {
	char dir[64];
	git_repository *repo;
} rig;

static char *in(const rig *r, const char *name)
{
	static char path[4][256];
	static uint32_t next;

	next = (next + 1) % 4;
	snprintf(path[next], sizeof(path[next]), "%s/%s", r->dir, name);
	return path[next];
}

static void put(const rig *r, const char *name, const char *text)
{
	char folder[256];

	snprintf(folder, sizeof(folder), "%s", in(r, name));
	*strrchr(folder, '/') = '\0';
	assert_int_equal(pctl_file_make_dirs(folder, &telling), PCTL_OK);
	assert_int_equal(pctl_file_write(in(r, name), text, strlen(text), 0, &telling), PCTL_OK);
}

static void commit(const rig *r, const char *const *names)
{
	git_signature *by;
	git_index *index;
	git_oid tree_id, id, parent_id;
	git_commit *parent = NULL;
	git_tree *tree;

	assert_int_equal(git_repository_index(&index, r->repo), 0);
	for (; *names != NULL; names++)
		assert_int_equal(git_index_add_bypath(index, *names), 0);
	assert_int_equal(git_index_write_tree(&tree_id, index), 0);
	assert_int_equal(git_tree_lookup(&tree, r->repo, &tree_id), 0);
	assert_int_equal(git_signature_new(&by, "t", "t@example.org", 1700000000, 0), 0);
	if (git_reference_name_to_id(&parent_id, r->repo, "HEAD") == 0)
		assert_int_equal(git_commit_lookup(&parent, r->repo, &parent_id), 0);
	assert_int_equal(git_commit_create_v(&id, r->repo, "HEAD", by, by, NULL, "m", tree,
					     parent != NULL, parent),
			 0);
	git_commit_free(parent);
	git_signature_free(by);
	git_tree_free(tree);
	git_index_free(index);
}

static void rig_open(rig *r)
{
	strcpy(r->dir, "/tmp/pctl-repo-XXXXXX");
	assert_non_null(mkdtemp(r->dir));
	pctl_git_library();
	assert_int_equal(git_repository_init(&r->repo, in(r, "w"), 0), 0);
	last_code = 0;
}

static void rig_close(rig *r)
{
	char command[128];

	git_repository_free(r->repo);
	snprintf(command, sizeof(command), "rm -rf %s", r->dir);
	assert_int_equal(system(command), 0);
}

/* The place of one file, read now. */
static pctl_repo_place place_of(const char *path, const char *more)
{
	pctl_texts *t = pctl_texts_create(NULL);
	pctl_repo_place place;
	uint64_t n;
	char *text;

	assert_int_equal(pctl_vfs_read(pctl_texts_vfs(t), path, 1000, &telling, &text, &n),
			 PCTL_OK);
	free(text);
	if (more != NULL) {
		assert_int_equal(pctl_vfs_read(pctl_texts_vfs(t), more, 1000, &telling, &text, &n),
				 PCTL_OK);
		free(text);
	}
	assert_int_equal(pctl_repo_describe(t, &telling, &place), PCTL_OK);
	pctl_texts_destroy(t);
	return place;
}

static uint32_t state_of(const char *path, const char *more)
{
	pctl_repo_place place = place_of(path, more);
	const uint32_t state = place.state;

	pctl_repo_place_clear(&place);
	return state;
}

static void test_git__a_place_is_described(void **state)
{
	static const char *const names[] = {"a/x.cfg", "a/y.cfg", NULL};
	pctl_repo_place place;
	rig r;

	(void)state;
	rig_open(&r);
	put(&r, "w/a/x.cfg", "one");
	put(&r, "w/a/y.cfg", "two");
	put(&r, "out.cfg", "one");
	place = place_of(in(&r, "w/a/x.cfg"), NULL);
	assert_int_equal(place.state, PCTL_REPO_UNTRACKED); /* there is no commit yet */
	assert_string_equal(place.commit, "");
	assert_string_equal(place.path, "a/x.cfg");
	pctl_repo_place_clear(&place);
	commit(&r, names);
	place = place_of(in(&r, "w/a/x.cfg"), NULL);
	assert_int_equal(place.state, PCTL_REPO_CLEAN);
	assert_string_equal(place.repository, "w");
	assert_int_equal(strlen(place.commit), 40);
	assert_int_equal(place.committed, 0);
	pctl_repo_place_clear(&place);
	put(&r, "w/a/y.cfg", "three");
	put(&r, "w/a/z.cfg", "new");
	assert_int_equal(state_of(in(&r, "w/a/y.cfg"), NULL), PCTL_REPO_DIRTY);
	assert_int_equal(state_of(in(&r, "w/a/x.cfg"), in(&r, "w/a/y.cfg")), PCTL_REPO_DIRTY);
	assert_int_equal(state_of(in(&r, "w/a/x.cfg"), in(&r, "w/a/z.cfg")), PCTL_REPO_UNTRACKED);
	assert_int_equal(state_of(in(&r, "w/a/x.cfg"), in(&r, "out.cfg")), PCTL_REPO_OUTSIDE);
	assert_int_equal(state_of(in(&r, "out.cfg"), NULL), PCTL_REPO_OUTSIDE);
	rig_close(&r);
}

/* What was read counts, not what stands in the file later. */
static void test_git__texts_are_kept_as_they_were_read(void **state)
{
	static const char *const names[] = {"x.cfg", NULL};
	pctl_texts *t = pctl_texts_create(NULL);
	const pctl_vfs *vfs = pctl_texts_vfs(t);
	pctl_repo_place place;
	uint64_t n;
	char *text;
	rig r;

	(void)state;
	rig_open(&r);
	put(&r, "w/x.cfg", "one");
	commit(&r, names);
	assert_int_equal(pctl_vfs_read(vfs, in(&r, "w/x.cfg"), 100, &telling, &text, &n), PCTL_OK);
	free(text);
	put(&r, "w/x.cfg", "changed");
	assert_int_equal(pctl_vfs_read(vfs, in(&r, "w/x.cfg"), 100, &telling, &text, &n), PCTL_OK);
	assert_string_equal(text, "one");
	free(text);
	assert_int_equal(pctl_vfs_read(vfs, in(&r, "w/x.cfg"), 2, &telling, &text, &n), PCTL_E_IO);
	assert_int_equal(pctl_texts_count(t), 1);
	assert_int_equal(pctl_repo_describe(t, &telling, &place), PCTL_OK);
	assert_int_equal(place.state, PCTL_REPO_CLEAN);
	pctl_repo_place_clear(&place);
	pctl_texts_destroy(t);
	rig_close(&r);
}

static void test_git__names_are_relative_to_the_first_text(void **state)
{
	static const char *const cases[][3] = {
		{"p/a.cfg", "p/b.cfg", "b.cfg"},
		{"p/a.cfg", "p/../s/./b.cfg", "../s/b.cfg"},
		{"a.cfg", "../s/b.cfg", "../s/b.cfg"},
		{"./p/q/a.cfg", "p//b.cfg", "../b.cfg"},
		{"/x/p/a.cfg", "/x/s/b.cfg", "../s/b.cfg"},
		{"../p/a.cfg", "../p/s/b.cfg", "s/b.cfg"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *base = pctl_path_plain(cases[i][0]);
		char *path = pctl_path_plain(cases[i][1]);
		char *got = pctl_texts_from_folder(base, path);

		assert_string_equal(got, cases[i][2]);
		free(base);
		free(path);
		free(got);
	}
}

static void test_git__plain_paths(void **state)
{
	static const char *const cases[][2] = {
		{"a/b", "a/b"},	  {"./a//b/", "a/b"},	  {"a/../b", "b"},
		{"../a", "../a"}, {"a/../../b", "../b"},  {"../../a", "../../a"},
		{"/../a", "/a"},  {"/a/../../b/.", "/b"}, {"", ""},
		{"a/..", ""},	  {"...", "..."},	  {"..a/..", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *got = pctl_path_plain(cases[i][0]);

		assert_string_equal(got, cases[i][1]);
		free(got);
	}
}

static void test_git__a_revision_is_a_view(void **state)
{
	static const char *const names[] = {"a/x.cfg", "s.wgsl", NULL};
	pctl_repo_revision *rev;
	const pctl_vfs *vfs;
	char spec[256], *name, *text;
	uint64_t n;
	rig r;

	(void)state;
	rig_open(&r);
	put(&r, "w/a/x.cfg", "one");
	put(&r, "w/s.wgsl", "shader");
	commit(&r, names);
	put(&r, "w/a/x.cfg", "changed");
	snprintf(spec, sizeof(spec), "%s@HEAD:a/./x.cfg", in(&r, "w"));
	assert_true(pctl_repo_is_spec(spec));
	assert_int_equal(pctl_repo_revision_open(spec, &telling, &rev), PCTL_OK);
	vfs = pctl_repo_revision_vfs(rev);
	snprintf(spec, sizeof(spec), "%s@HEAD:a/x.cfg", in(&r, "w"));
	assert_string_equal(pctl_repo_revision_name(rev), spec);
	assert_int_equal(pctl_vfs_read(vfs, spec, 10, &telling, &text, &n), PCTL_OK);
	assert_string_equal(text, "one");
	free(text);
	assert_int_equal(pctl_vfs_read(vfs, spec, 2, &telling, &text, &n), PCTL_E_LIMIT);
	assert_int_equal(last_code, PC6006_REPO_SIZE);
	name = pctl_vfs_resolve(vfs, spec, "../s.wgsl");
	assert_true(pctl_vfs_exists(vfs, name));
	free(name);
	name = pctl_vfs_resolve(vfs, spec, "../../out");
	assert_false(pctl_vfs_exists(vfs, name));
	free(name);
	name = pctl_vfs_resolve(vfs, spec, "/etc/passwd");
	assert_false(pctl_vfs_exists(vfs, name));
	assert_int_equal(pctl_vfs_read(vfs, name, 10, &telling, &text, &n), PCTL_E_NOT_FOUND);
	free(name);
	assert_int_equal(pctl_repo_revision_place(rev)->committed, 1);
	assert_int_equal(pctl_repo_revision_place(rev)->state, PCTL_REPO_CLEAN);
	pctl_repo_revision_close(rev);
	rig_close(&r);
}

static uint32_t refusal(const char *spec)
{
	pctl_repo_revision *rev;

	last_code = 0;
	assert_int_not_equal(pctl_repo_revision_open(spec, &telling, &rev), PCTL_OK);
	assert_null(rev);
	return last_code;
}

static void test_git__refusals(void **state)
{
	static const char *const names[] = {"a/x.cfg", NULL};
	static const struct {
		const char *behind;
		uint32_t code;
	} cases[] = {
		{"w@HEAD:", PC6000_REPO_SPEC},
		{"w@HEAD:/a/x.cfg", PC6000_REPO_SPEC},
		{"n@HEAD:a/x.cfg", PC6000_REPO_SPEC},
		{"e@HEAD:a/x.cfg", PC6001_REPO_NONE},
		{"w@none:a/x.cfg", PC6003_REPO_REVISION},
		{"w@HEAD{0}:a", PC6003_REPO_REVISION},
		{"w@HEAD:b", PC6004_REPO_PATH},
		{"w@HEAD:a/x.cfg/z", PC6004_REPO_PATH},
		{"w@HEAD:../w/a/x.cfg", PC6004_REPO_PATH},
		{"w@HEAD:a", PC6005_REPO_KIND},
	};
	rig r;

	(void)state;
	rig_open(&r);
	put(&r, "w/a/x.cfg", "one");
	put(&r, "e/x", "no repository");
	commit(&r, names);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(refusal(in(&r, cases[i].behind)), cases[i].code);
	put(&r, "w/.git/HEAD", "nonsense\n");
	assert_int_equal(refusal(in(&r, "w@HEAD:a/x.cfg")), PC6002_REPO_UNREADABLE);
	rig_close(&r);
}

static void test_git__a_name_holds_no_secret(void **state)
{
	static const char *const cases[][2] = {
		{"https://me:pw@h/x.git", "https://h/x.git"},
		{"https://tok@en@h:1/x?key=1#2", "https://h:1/x"},
		{"git@h:x.git", "h:x.git"},
		{"ssh://git@h/~me/x@y", "ssh://h/~me/x@y"},
		{"/srv/x@1.git", "/srv/x@1.git"},
		{"https://h?key=1", "https://h"},
		{"https://me@", NULL},
		{"https://h/\x01", NULL},
		{"https://h/\xff", NULL},
		{"https://h/\xc3\xa4", "https://h/\xc3\xa4"},
		{"", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *got = pctl_git_address(cases[i][0]);

		if (cases[i][1] == NULL)
			assert_null(got);
		else
			assert_string_equal(got, cases[i][1]);
		free(got);
	}
}

static void test_git__the_first_remote_names_it(void **state)
{
	static const char *const names[] = {"x.cfg", NULL};
	static const char *const cases[][2] = {
		{"[remote \"a\"]\n\turl = https://u:p@h/one.git ; note\n[remote \"b\"]\nurl=two\n",
		 "https://h/one.git"},
		{"[core]\n\turl = no\n[remote \"a\"]\n\tfetch = x\n\tURL = \"h:q # no note\" # "
		 "note\n",
		 "h:q "},
		{"[remote \"a\"]\n\tpushurl = x\n[branch \"b\"]\n\turl = y\n", "w"},
		{"[include]\n\tpath = /dev/zero\n", "w"},
		{"", "w"},
	};
	pctl_repo_place place;
	rig r;

	(void)state;
	rig_open(&r);
	put(&r, "w/x.cfg", "one");
	commit(&r, names);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		put(&r, "w/.git/config", cases[i][0]);
		place = place_of(in(&r, "w/x.cfg"), NULL);
		assert_string_equal(place.repository, cases[i][1]);
		pctl_repo_place_clear(&place);
	}
	rig_close(&r);
}

static const char *row(const pctl_released *r, const char *name)
{
	const pctl_released_row *found = pctl_map_get(r->map, name);

	return found == NULL ? NULL : found->value;
}

static void test_git__rows_of_tables_and_headers(void **state)
{
	pctl_released r;

	(void)state;
	assert_true(pctl_released_begin(&r));
	pctl_released_codes(&r, "c",
			    "/* PCTL_CODE(n, */\nPCTL_CODE(12, A_B, \"a-b\", S, \"x\",\n \"y\")\n");
	assert_string_equal(row(&r, "12"), "a-b");
	assert_int_equal(((const pctl_released_row *)pctl_map_get(r.map, "12"))->line, 2);
	pctl_released_opcodes(
		&r, "o",
		"/* PCTL_OPCODE(number, NAME */\nPCTL_OPCODE(0x1f, CLAMP, V, \"vvv\", "
		"elem) /* ) */");
	assert_string_equal(row(&r, "0x1f"), "CLAMP, V, \"vvv\"");
	pctl_released_numbers(
		&r, "h",
		"#define PCTL_A 1u\n#define PCTL_B \\\n\t128u /* x */\n#define PCTL_C (4u << 20)\n"
		"#define PCTL_D \"text\"\n#define PCTL_F(x) 3\n#define PCTL_ABI_MINOR 0\n"
		"enum { PCTL_E = 3, PCTL_G,\n PCTL_H=0x10 };\n if (x == PCTL_A) PCTL_I == 4;");
	assert_string_equal(row(&r, "PCTL_A"), "1u");
	assert_string_equal(row(&r, "PCTL_B"), "128u");
	assert_string_equal(row(&r, "PCTL_C"), "(4u << 20)");
	assert_string_equal(row(&r, "PCTL_E"), "3");
	assert_string_equal(row(&r, "PCTL_H"), "0x10");
	assert_null(row(&r, "PCTL_D"));
	assert_null(row(&r, "PCTL_F"));
	assert_null(row(&r, "PCTL_I"));
	assert_null(row(&r, "PCTL_ABI_MINOR"));
	assert_int_equal(pctl_released_lock(&r, "l", "# c\na.b@1 x\na.b@2 y\n", &telling), PCTL_OK);
	assert_string_equal(row(&r, "a.b@2"), "y");
	last_code = 0;
	assert_int_not_equal(pctl_released_lock(&r, "l", "b@1 x\na@1 y\n", &telling), PCTL_OK);
	assert_int_equal(last_code, PC6021_REPO_LOCK);
	assert_false(r.failed);
	pctl_released_end(&r);
}

static void test_git__what_was_released_stays(void **state)
{
	static const char *const names[] = {"conf/gas/a.cfg", PCTL_REPO_LOCK, NULL};
	pctl_repo_frozen f;
	rig r;

	(void)state;
	rig_open(&r);
	put(&r, "w/conf/gas/a.cfg", "x = 1;\n");
	put(&r, "w/" PCTL_REPO_LOCK, "a.b@1 x\n");
	commit(&r, names);
	assert_int_equal(pctl_repo_check_immutable(in(&r, "w"), "HEAD", &telling, &f), PCTL_OK);
	assert_int_equal(f.schedules, 1);
	assert_int_equal(f.ops, 1);
	put(&r, "w/" PCTL_REPO_LOCK, "a.b@1 x\na.b@2 y\n");
	assert_int_equal(pctl_repo_check_immutable(in(&r, "w"), "HEAD", &telling, &f), PCTL_OK);
	put(&r, "w/" PCTL_REPO_LOCK, "a.b@1 z\n");
	assert_int_equal(pctl_repo_check_immutable(in(&r, "w"), "HEAD", &telling, &f),
			 PCTL_E_MISMATCH);
	assert_int_equal(last_code, PC6020_REPO_RELEASED);
	put(&r, "w/" PCTL_REPO_LOCK, "a.b@1 x\n");
	put(&r, "w/conf/gas/a.cfg", "x = 2;\n");
	assert_int_equal(pctl_repo_check_immutable(in(&r, "w"), "HEAD", &telling, &f),
			 PCTL_E_MISMATCH);
	rig_close(&r);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_git__a_place_is_described),
		PCTL_TEST(test_git__texts_are_kept_as_they_were_read),
		PCTL_TEST(test_git__names_are_relative_to_the_first_text),
		PCTL_TEST(test_git__plain_paths), PCTL_TEST(test_git__a_revision_is_a_view),
		PCTL_TEST(test_git__refusals), PCTL_TEST(test_git__a_name_holds_no_secret),
		PCTL_TEST(test_git__the_first_remote_names_it),
		PCTL_TEST(test_git__rows_of_tables_and_headers),
		PCTL_TEST(test_git__what_was_released_stays))
