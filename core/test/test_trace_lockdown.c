/* A refusal is blamed on lockdown only where the kernel is locked down. */
#include "check.h"
#include "events/lockdown.h"

int main(void) {
    char words[64];
    lockdown_words("none integrity [confidentiality]\n", words, sizeof words);
    CHECK(strcmp(words, "; the kernel is locked down (confidentiality)") == 0, "%s", words);
    lockdown_words("none [integrity] confidentiality\n", words, sizeof words);
    CHECK(strstr(words, "(integrity)") != NULL, "%s", words);
    lockdown_words("[none] integrity confidentiality\n", words, sizeof words);
    CHECK(words[0] == '\0', "%s", words);
    lockdown_words("", words, sizeof words);
    CHECK(words[0] == '\0', "a kernel without lockdown");
    lockdown_words("none [integrity", words, sizeof words);
    CHECK(words[0] == '\0', "cut");
    return 0;
}
