/* Lines for people, folded at the width of the terminal. Nothing here is for machines: those read --json. */
#ifndef PIPECTL_TOOLS_FOLD_H
#define PIPECTL_TOOLS_FOLD_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Columns there are: the variable COLUMNS, else the terminal behind `fd`, standard output's; 0: no limit (a pipe, a file). */
uint32_t pctl_columns_of(int fd);
uint32_t pctl_columns(void);

/* Columns that a text takes: two for a wide character (of East Asian scripts, most pictures), none for a combining one. */
size_t pctl_text_columns(const char *text);
/* Cut it at that many, with "..." where something went and there is room for that. */
void pctl_text_cut(char *text, size_t columns);
/* Control characters, and bytes that are no UTF-8, become '?'. */
void pctl_text_plain(char *text);

/* Text folded at blanks; the first line goes on from column `at`, later ones begin at `indent`. Ends the line. */
void pctl_print_folded(FILE *to, size_t at, size_t indent, const char *text);
/* Lines as they are, each folded with what goes on below its own indent. */
void pctl_print_lines(FILE *to, const char *text);
/* "  left      right", with the right side folded in its column, or below where little room is left. */
void pctl_print_pair(FILE *to, const char *left, size_t width, const char *right);

#endif
