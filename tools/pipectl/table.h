/* Laying out text for people: lines that fold at the width of the terminal, and tables, which become one short paragraph a
 * row where they are wider than that. Nothing here is for machines: those read --json. */
#ifndef PIPECTL_TOOLS_TABLE_H
#define PIPECTL_TOOLS_TABLE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Columns there are: the variable COLUMNS, else the terminal behind standard output; 0: no limit (a pipe, a file). */
uint32_t pctl_columns(void);
/* Columns that a text takes: code points of UTF-8. */
size_t pctl_text_width(const char *text);

/* Text folded at blanks; the first line goes on from column `at`, later ones begin at `indent`. Ends the line. */
void pctl_print_folded(FILE *to, size_t at, size_t indent, const char *text);
/* "  left      right", with the right side folded in its column, or below where little room is left. */
void pctl_print_pair(FILE *to, const char *left, size_t width, const char *right);

/*
 * A table. heads: names of the columns, separated by '|', with '>' before one whose cells stand to the right. Cells are given
 * row by row; lack of memory is remembered, and print says 0 then. Where the table is wider than there are columns, a row is
 * its first cell with a line "head: cell" for each other one below.
 */
typedef struct pctl_table pctl_table;
pctl_table *pctl_table_create(const char *heads);
void pctl_table_cell(pctl_table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int pctl_table_print(const pctl_table *t, FILE *to);
void pctl_table_destroy(pctl_table *t);

#endif
