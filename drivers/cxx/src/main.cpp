// driver-cxx: performs one cell's launches through the C++ standard library and answers by the driver
// protocol (docs/protocol.md).
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "answer.hpp"

namespace {

using namespace driver;

bool write_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        ssize_t put = write(fd, bytes.data(), bytes.size());
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put < 0) {
            return false;
        }
        bytes.remove_prefix(static_cast<std::size_t>(put));
    }
    return true;
}

int complain(const std::string &text, int status) {
    write_all(STDERR_FILENO, "driver-cxx: " + text + "\n");
    return status;
}

// The runner may die at any time; the driver must not outlive it. A reader that died before prctl took effect
// shows as a broken pipe.
bool somebody_reads(int fd) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pollfd reader{fd, 0, 0};
    return poll(&reader, 1, 0) != 1 || (reader.revents & (POLLERR | POLLNVAL)) == 0;
}

int answer(int fd, const std::vector<std::string_view> &words) {
    std::string bytes;
    bool failed = false;
    try {
        Request request = read_request(words);
        bytes = encode_answer(&request, measure(request), "ok", "");
    } catch (const Refusal &refused) {
        failed = true;
        bytes = encode_answer(nullptr, {}, "failed", refused.what());
    } catch (const std::bad_alloc &) {
        // Too many samples for this machine: it can go on, only not with that.
        bytes = encode_answer(nullptr, {}, "skipped", "no memory for that many samples; ask for fewer");
    }
    if (!write_all(fd, bytes)) {
        return complain(std::string("the answer could not be sent: ") + std::strerror(errno), 1);
    }
    return failed ? 1 : 0;
}

int serve(const std::vector<std::string_view> &words) {
    if (words.size() == 1 && words[0] == "--describe") {
        return write_all(STDOUT_FILENO, describe() + "\n") ? 0 : 1;
    }
    if (words.size() < 2 || words[0] != "--fd") {
        return complain("usage: driver-cxx --describe | --fd N key=value...", 2);
    }
    int fd = -1;
    auto [end, error] = std::from_chars(words[1].data(), words[1].data() + words[1].size(), fd);
    if (error != std::errc{} || end != words[1].data() + words[1].size() || fcntl(fd, F_GETFD) < 0) {
        return complain("--fd " + std::string(words[1]) + " is not an open descriptor", 2);
    }
    // A reader that has gone is an error to report, not a signal to die from.
    std::signal(SIGPIPE, SIG_IGN);
    if (!somebody_reads(fd)) {
        return complain("nobody reads descriptor " + std::string(words[1]), 1);
    }
    return answer(fd, {words.begin() + 2, words.end()});
}

} // namespace

int main(int argc, char **argv) {
    try {
        return serve({argv + 1, argv + argc});
    } catch (const std::exception &unexpected) {
        return complain(unexpected.what(), 1);
    }
}
