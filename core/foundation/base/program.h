/* Which file this code came from: the running program, or a shared library that another program loaded. What belongs to an
 * installation is found from there, so that a client in somebody else's program finds the same files. */
#ifndef PIPECTL_FOUNDATION_BASE_PROGRAM_H
#define PIPECTL_FOUNDATION_BASE_PROGRAM_H

/* The file, with no links in its path; released with free(). NULL: the system does not tell, or no memory. */
char *pctl_program_file(void);

/* The directory where the programs of the installation lie: the file's own, or as the library's directory says. Released
 * with free(), NULL as above. */
char *pctl_program_dir(void);

#endif
