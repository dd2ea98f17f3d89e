// The driver protocol's bytes (docs/protocol.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "measure.hpp"

namespace driver {

constexpr std::string_view VERSION = "0.1.0";

// The whole answer: preamble, blocks, DONE. `status` is ok, skipped or failed; the reason empty for ok.
std::string encode_answer(const Request *request, const std::vector<Block> &blocks, std::string_view status,
                          std::string_view reason);

// The catalogue, one JSON object.
std::string describe();

std::string_view type_of(const Column &column);

} // namespace driver
