/* Signals by which somebody asks the census to end. */
#ifndef CLONOMETER_CENSUS_SIGNALS_H
#define CLONOMETER_CENSUS_SIGNALS_H

/* Notes them from here on. What is ignored stays so, for the command too; handlers are gone when it begins.
 */
void signals_catch(void);

/* The last one that came; 0: none. */
int signals_caught(void);

#endif
