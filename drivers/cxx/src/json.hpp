// Writes JSON into a string. Whoever opens closes.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

namespace driver {

class Json {
  public:
    // Each takes a key inside an object, an empty one inside an array or at the top.
    Json &open(std::string_view key, char bracket) {
        begin(key);
        text_ += bracket;
        comma_ = false;
        return *this;
    }
    Json &close(char bracket) {
        text_ += bracket;
        comma_ = true;
        return *this;
    }
    Json &text(std::string_view key, std::string_view value) {
        begin(key);
        quote(value);
        return *this;
    }
    // Null where the value is empty.
    Json &text_or_null(std::string_view key, std::string_view value) {
        return value.empty() ? null(key) : text(key, value);
    }
    Json &null(std::string_view key) {
        return raw(key, "null");
    }
    Json &boolean(std::string_view key, bool value) {
        return raw(key, value ? "true" : "false");
    }
    Json &integer(std::string_view key, std::int64_t value) {
        return raw(key, std::to_string(value));
    }
    Json &number(std::string_view key, double value) {
        char digits[32];
        auto end = std::to_chars(digits, digits + sizeof digits, value, std::chars_format::general, 9).ptr;
        return raw(key, std::string_view(digits, static_cast<std::size_t>(end - digits)));
    }
    const std::string &string() const {
        return text_;
    }

  private:
    void begin(std::string_view key) {
        if (comma_) {
            text_ += ", ";
        }
        comma_ = true;
        if (!key.empty()) {
            quote(key);
            text_ += ": ";
        }
    }
    Json &raw(std::string_view key, std::string_view value) {
        begin(key);
        text_ += value;
        return *this;
    }
    // Words of the command line may hold any byte; what is not plain ASCII is shown as a question mark, since
    // JSON must be UTF-8.
    void quote(std::string_view value) {
        text_ += '"';
        for (char letter : value) {
            if (letter == '"' || letter == '\\') {
                text_ += '\\';
                text_ += letter;
            } else {
                text_ += letter >= ' ' && letter < 0x7f ? letter : '?';
            }
        }
        text_ += '"';
    }

    std::string text_;
    bool comma_ = false;
};

} // namespace driver
