/* Signals by which somebody asks the census to end. */
#ifndef CLONOMETER_CENSUS_SIGNALS_H
#define CLONOMETER_CENSUS_SIGNALS_H

#include <stdbool.h>

/* Notes them from here on. What is ignored stays so, for the command too. */
void signals_catch(void);

/* In a child, before it becomes the command. */
void signals_give_back(void);

/* Whether somebody has. An interrupt from the terminal, or to the whole group, a command has got as well, and
 * where one runs (`answered`) it is the command's to answer. One that came to our starter alone, which passes
 * all on, asks the census. */
bool signals_asked(bool answered);

/* Whether this signal came. */
bool signals_came(int number);

#endif
