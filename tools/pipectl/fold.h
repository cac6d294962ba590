/* Lines for people, folded at the width of the terminal. Nothing here is for machines: those read --json. */
#ifndef PIPECTL_TOOLS_FOLD_H
#define PIPECTL_TOOLS_FOLD_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Columns there are: the variable COLUMNS, else the terminal behind standard output; 0: no limit (a pipe, a file). */
uint32_t pctl_columns(void);

/* Text folded at blanks; the first line goes on from column `at`, later ones begin at `indent`. Ends the line. */
void pctl_print_folded(FILE *to, size_t at, size_t indent, const char *text);
/* "  left      right", with the right side folded in its column, or below where little room is left. */
void pctl_print_pair(FILE *to, const char *left, size_t width, const char *right);

#endif
