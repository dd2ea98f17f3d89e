#include "answer.hpp"

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <map>

#include "json.hpp"

namespace driver {

namespace {

static_assert(std::endian::native == std::endian::little, "a big-endian driver must swap what it sends");

template <typename Number> void append(std::string &bytes, Number number) {
    char raw[sizeof number];
    std::memcpy(raw, &number, sizeof number);
    bytes.append(raw, sizeof raw);
}

void append_frame(std::string &bytes, std::string_view kind, std::string_view payload) {
    bytes += kind;
    append(bytes, std::uint32_t{0});
    append(bytes, std::uint64_t{payload.size()});
    bytes += payload;
}

// CRC-32 of IEEE 802.3, as in zlib.
std::uint32_t crc32(std::string_view bytes) {
    static const std::array<std::uint32_t, 256> table = [] {
        std::array<std::uint32_t, 256> made{};
        for (std::uint32_t i = 0; i < made.size(); i++) {
            std::uint32_t value = i;
            for (int bit = 0; bit < 8; bit++) {
                value = (value & 1U) != 0 ? (value >> 1) ^ 0xedb88320U : value >> 1;
            }
            made[i] = value;
        }
        return made;
    }();
    std::uint32_t crc = 0xffffffffU;
    for (char letter : bytes) {
        crc = table[(crc ^ static_cast<unsigned char>(letter)) & 0xffU] ^ (crc >> 8);
    }
    return ~crc;
}

std::string encode_head(const Workload &workload, const Block &block, std::size_t index) {
    Json json;
    json.open("", '{')
        .integer("block", static_cast<std::int64_t>(index))
        .text("workload", workload.id)
        .text_or_null("temperature", block.temperature)
        .integer("rows", static_cast<std::int64_t>(block.samples.size()))
        .open("columns", '[');
    for (const Column &column : workload.columns) {
        json.open("", '{')
            .text("name", column.name)
            .text("type", type_of(column))
            .text("unit", column.unit)
            .close('}');
    }
    return json.close(']').close('}').string();
}

std::string encode_columns(const Workload &workload, const Block &block) {
    std::string bytes;
    for (const Column &column : workload.columns) {
        for (const Sample &sample : block.samples) {
            std::visit([&](auto value) { append(bytes, value); }, column.value(sample, block.start));
        }
    }
    return bytes;
}

std::string errno_name(std::int32_t error) {
    static const std::map<std::int32_t, std::string> names = {
        {EAGAIN, "EAGAIN"}, {ENOMEM, "ENOMEM"}, {EPERM, "EPERM"}, {EINVAL, "EINVAL"}, {ENOSYS, "ENOSYS"},
    };
    auto name = names.find(error);
    return name != names.end() ? name->second : "errno " + std::to_string(error);
}

void write_facts(Json &json, const Block &block) {
    json.open("facts", '{').integer("wall_ns", block.wall_ns).open("effective_mhz", '{');
    for (const auto &[cpu, mhz] : block.effective_mhz) {
        if (mhz > 0) {
            json.number(std::to_string(cpu), mhz);
        }
    }
    json.close('}')
        .integer("minor_faults", block.minor_faults)
        .integer("major_faults", block.major_faults)
        .integer("voluntary_switches", block.voluntary_switches)
        .integer("involuntary_switches", block.involuntary_switches)
        .integer("cpu_ns", block.cpu_ns)
        .close('}');
}

std::string encode_tail(const Block &block, std::uint32_t checksum) {
    std::map<std::int32_t, std::int64_t> outcomes = {{0, 0}};
    for (const Sample &sample : block.samples) {
        outcomes[sample.error]++;
    }
    Json json;
    json.open("", '{')
        .text("status", "ok")
        .null("reason")
        .integer("rows", static_cast<std::int64_t>(block.samples.size()))
        .integer("crc32", checksum)
        .open("outcomes", '{');
    for (const auto &[error, times] : outcomes) {
        json.integer(error == 0 ? "ok" : errno_name(error), times);
    }
    json.close('}');
    write_facts(json, block);
    return json.close('}').string();
}

std::string encode_done(std::size_t blocks, std::string_view status, std::string_view reason) {
    return Json()
        .open("", '{')
        .text("status", status)
        .text_or_null("reason", reason)
        .null("errno")
        .integer("blocks", static_cast<std::int64_t>(blocks))
        .text("driver", "cxx")
        .text("version", VERSION)
        .text("linkage", CLONOMETER_LINKAGE)
        .close('}')
        .string();
}

} // namespace

std::string_view type_of(const Column &column) {
    static constexpr std::string_view TYPES[] = {"i32", "i64", "f64"};
    return TYPES[column.value(Sample{}, 0).index()];
}

std::string encode_answer(const Request *request, const std::vector<Block> &blocks, std::string_view status,
                          std::string_view reason) {
    std::string bytes = "CLNMETER";
    append(bytes, std::uint32_t{1});
    append(bytes, std::uint32_t{0});
    for (std::size_t index = 0; index < blocks.size(); index++) {
        std::string columns = encode_columns(*request->workload, blocks[index]);
        append_frame(bytes, "HEAD", encode_head(*request->workload, blocks[index], index));
        append_frame(bytes, "COLS", columns);
        append_frame(bytes, "TAIL", encode_tail(blocks[index], crc32(columns)));
    }
    append_frame(bytes, "DONE", encode_done(blocks.size(), status, reason));
    return bytes;
}

} // namespace driver
