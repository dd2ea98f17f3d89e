/* The checksum is zlib's: the published check value, and the same however the data is cut. */
#include "base/crc32.h"
#include "check.h"

int main(void) {
    const char *text = "123456789";
    CHECK(crc32_update(0, text, 9) == 0xcbf43926U, "%08x", crc32_update(0, text, 9));
    CHECK(crc32_update(crc32_update(0, text, 4), text + 4, 5) == 0xcbf43926U, "cut in two");
    CHECK(crc32_update(0, text, 0) == 0, "of nothing");
    return 0;
}
