#ifndef CLONOMETER_DESCRIBE_H
#define CLONOMETER_DESCRIBE_H

/* Writes the catalogue as JSON: the only one there is. 0 or -errno. */
int describe(int fd);

/* Calibrates the clock and writes the result as JSON. 0 or -errno. */
int describe_clock(int fd);

#endif
