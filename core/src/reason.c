#include "reason.h"

#include <stdarg.h>
#include <stdio.h>

int reason_set(struct reason *reason, int error, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    /* clang-tidy 14 overlooks the va_start above. NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized) */
    vsnprintf(reason->text, sizeof reason->text, format, arguments);
    va_end(arguments);
    return error;
}
