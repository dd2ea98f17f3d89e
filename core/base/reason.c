#include "base/reason.h"

#include <stdarg.h>
#include <stdio.h>

int reason_set(struct reason *reason, int error, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason->text, sizeof reason->text, format, arguments);
    va_end(arguments);
    return error;
}
