/* What a repository is called: the address of its first remote, read from its own `config` by a small reader that follows
 * no includes, without anything that could be a secret. It is a label in receipts and decides nothing. */
#include "foundation/git/git.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "foundation/base/file.h"
#include "foundation/git/repo.h"
#include "foundation/base/utf8.h"

#define CONFIG_MAX (1u << 20)

/* Any '@' before the path ends what is a user name and maybe a password. */
static const char *without_user(const char *from, size_t n)
{
	const char *at = NULL;

	for (size_t i = 0; i < n; i++)
		if (from[i] == '@')
			at = from + i + 1;
	return at == NULL ? from : at;
}

char *pctl_git_address(const char *url)
{
	const char *scheme = strstr(url, "://");
	const size_t n_scheme = scheme == NULL ? 0 : (size_t)(scheme - url) + 3;
	const char *from = url + n_scheme;
	const char *host = without_user(from, strcspn(from, "/?#"));
	const size_t n_host = strcspn(host, "?#");
	char *out = malloc(n_scheme + n_host + 1);

	if (out == NULL)
		return NULL;
	memcpy(out, url, n_scheme);
	memcpy(out + n_scheme, host, n_host);
	out[n_scheme + n_host] = '\0';
	if (n_host != 0 && n_scheme + n_host <= PCTL_REPO_NAME_MAX &&
	    pctl_utf8_bad(out, strlen(out), PCTL_UTF8_PLAIN) == strlen(out))
		return out;
	free(out);
	return NULL;
}

/* The value behind `key =` on a line, without quotes, comment and blanks at its end; NULL when it is another key. */
static char *value_of(char *line, const char *key)
{
	const size_t n_key = strlen(key);
	char *from, *to, *value;

	if (strncasecmp(line, key, n_key) != 0)
		return NULL;
	from = line + n_key + strspn(line + n_key, " \t");
	if (*from != '=')
		return NULL;
	from += 1 + strspn(from + 1, " \t");
	value = to = from;
	for (int quoted = 0; *from != '\0' && (quoted || strchr("#;", *from) == NULL); from++) {
		if (*from == '"')
			quoted = !quoted;
		else if (*from == '\\' && from[1] != '\0')
			*to++ = *++from;
		else
			*to++ = *from;
	}
	while (to > value && (to[-1] == ' ' || to[-1] == '\t'))
		to--;
	*to = '\0';
	return value;
}

/* The text is taken apart in place. */
static char *first_remote(char *text)
{
	char *rest = NULL;
	int remote = 0;

	for (char *line = strtok_r(text, "\r\n", &rest); line != NULL;
	     line = strtok_r(NULL, "\r\n", &rest)) {
		line += strspn(line, " \t");
		if (line[0] == '[') {
			remote = strncasecmp(line, "[remote", 7) == 0;
		} else if (remote) {
			char *value = value_of(line, "url");
			char *address = value == NULL ? NULL : pctl_git_address(value);

			if (address != NULL)
				return address;
		}
	}
	return NULL;
}

static char *directory_name(const pctl_git *g)
{
	const char *slash = strrchr(g->root, '/');
	const char *name = slash == NULL || slash[1] == '\0' ? "/" : slash + 1;

	return strdup(pctl_utf8_bad(name, strlen(name), PCTL_UTF8_PLAIN) == strlen(name)
			      ? name
			      : "(a name that is no text)");
}

char *pctl_git_name(const pctl_git *g)
{
	const char *common = git_repository_commondir(g->repo);
	char *path = common == NULL ? NULL : pctl_path_join(common, "config");
	char *text = NULL, *name = NULL;
	uint64_t n = 0;

	if (path != NULL && pctl_file_exists(path) &&
	    pctl_file_read(path, CONFIG_MAX, NULL, &text, &n) == PCTL_OK)
		name = first_remote(text);
	free(text);
	free(path);
	return name != NULL ? name : directory_name(g);
}
