/* The completion scripts: each hands the words typed so far to `completion at` and shows what that answers, so that a script
 * that was installed once stays right when verbs, options, ops or devices change. */
#include <stdio.h>
#include <string.h>

#include "app.h"

/* Bash cuts words at `=` and `:`, so the line is split at blanks here, and what stands before the last of those two is taken
 * off the candidates again. */
static const char bash[] =
	"_pipectl() {\n"
	"\tlocal line=${COMP_LINE:0:COMP_POINT} cur prefix candidate\n"
	"\tlocal -a words\n"
	"\tread -ra words <<<\"$line\"\n"
	"\t[[ $line == *[[:space:]] ]] && words+=('')\n"
	"\tcur=${words[${#words[@]}-1]}\n"
	"\tprefix=${cur%\"${cur##*[=:]}\"}\n"
	"\tCOMPREPLY=()\n"
	"\twhile IFS= read -r candidate; do\n"
	"\t\tcase $candidate in\n"
	"\t\t:files | :dirs)\n"
	"\t\t\tlocal what=-f\n"
	"\t\t\t[ \"$candidate\" = :dirs ] && what=-d\n"
	"\t\t\tcompopt -o filenames 2>/dev/null\n"
	"\t\t\twhile IFS= read -r candidate; do\n"
	"\t\t\t\tCOMPREPLY+=(\"$candidate\")\n"
	"\t\t\tdone < <(compgen $what -- \"${cur##*[=:]}\")\n"
	"\t\t\t;;\n"
	"\t\t*)\n"
	"\t\t\tcandidate=${candidate%%$'\\t'*}\n"
	"\t\t\t[[ $candidate == *= ]] && compopt -o nospace 2>/dev/null\n"
	"\t\t\tCOMPREPLY+=(\"${candidate#\"$prefix\"}\")\n"
	"\t\t\t;;\n"
	"\t\tesac\n"
	"\tdone < <(\"${words[0]}\" completion at -- \"${words[@]:1}\" 2>/dev/null)\n"
	"}\n"
	"complete -F _pipectl pipectl\n";

/* Installed as a file of the function path, the first call runs this text as the function's body. */
static const char zsh[] =
	"#compdef pipectl\n"
	"_pipectl() {\n"
	"\tlocal line candidate about\n"
	"\tlocal -a plain described\n"
	"\twhile IFS= read -r line; do\n"
	"\t\tcase $line in\n"
	"\t\t(:files) compset -P '*='; _files ;;\n"
	"\t\t(:dirs) compset -P '*='; _files -/ ;;\n"
	"\t\t(*) candidate=${line%%$'\\t'*}\n"
	"\t\t\tif [[ $candidate == *= ]]; then compadd -Q -S '' -- \"$candidate\"; continue; fi\n"
	"\t\t\tplain+=(\"$candidate\")\n"
	"\t\t\tif [[ $line == *$'\\t'* ]]; then about=\"  ${line#*$'\\t'}\"; else about=''; fi\n"
	"\t\t\tdescribed+=(\"$candidate$about\") ;;\n"
	"\t\tesac\n"
	"\tdone < <(${(Q)words[1]} completion at -- \"${(@Q)words[2,CURRENT]}\" 2>/dev/null)\n"
	"\t(( $#plain )) && compadd -Q -l -d described -a plain\n"
	"}\n"
	"if [ \"${funcstack[1]}\" = _pipectl ]; then _pipectl \"$@\"; else compdef _pipectl "
	"pipectl; fi\n";

static const char fish[] = "function __pipectl_at\n"
			   "\tset -l words (commandline -opc) (commandline -ct)\n"
			   "\tfor line in ($words[1] completion at -- $words[2..-1] 2>/dev/null)\n"
			   "\t\tswitch $line\n"
			   "\t\t\tcase :files\n"
			   "\t\t\t\t__fish_complete_path (commandline -ct)\n"
			   "\t\t\tcase :dirs\n"
			   "\t\t\t\t__fish_complete_directories (commandline -ct)\n"
			   "\t\t\tcase '*'\n"
			   "\t\t\t\techo $line\n"
			   "\t\tend\n"
			   "\tend\n"
			   "end\n"
			   "complete -c pipectl -f -a '(__pipectl_at)'\n";

pctl_status pctl_verb_completion(pctl_app *app)
{
	const struct {
		const char *name, *text;
	} shells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};

	for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++) {
		if (strcmp(app->line.arguments[0], shells[i].name) == 0) {
			fputs(shells[i].text, stdout);
			return PCTL_OK;
		}
	}
	return pctl_refuse(app->call, PC10_USAGE,
			   "completions are for bash, zsh and fish, not \"%s\"",
			   app->line.arguments[0]);
}
