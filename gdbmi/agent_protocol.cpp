#include "agent_protocol.h"

#include "agent_frames.h"

#include <bit>
#include <charconv>
#include <cstring>

namespace stopline::agent {

static_assert(std::endian::native == std::endian::little, "frames are little-endian and copied as they are");
static_assert(sizeof(TraceHeader) == 88);

namespace {

template <typename Number>
Number parseField(const Fields& fields, std::string_view name, Number fallback) {
    const auto found = fields.find(name);
    if (found == fields.end()) {
        return fallback;
    }
    const std::string& text = found->second;
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size() ? value : fallback;
}

} // namespace

std::string encodeFields(const Fields& fields) {
    std::string out;
    for (const auto& [name, value] : fields) {
        out += name;
        out += ' ';
        for (const char c : value) {
            if (c == '\n') {
                out += "\\n";
            } else if (c == '\\') {
                out += "\\\\";
            } else {
                out += c;
            }
        }
        out += '\n';
    }
    return out;
}

Fields decodeFields(std::string_view bytes) {
    Fields fields;
    while (!bytes.empty()) {
        const std::size_t end = bytes.find('\n');
        const std::string_view line = bytes.substr(0, end);
        bytes.remove_prefix(end == std::string_view::npos ? bytes.size() : end + 1);
        const std::size_t space = line.find(' ');
        if (space == 0 || space == std::string_view::npos) {
            continue;
        }
        std::string value;
        value.reserve(line.size() - space);
        for (std::size_t i = space + 1; i < line.size(); ++i) {
            if (line[i] == '\\' && i + 1 < line.size()) {
                ++i;
                value += line[i] == 'n' ? '\n' : line[i];
            } else {
                value += line[i];
            }
        }
        fields.insert_or_assign(std::string(line.substr(0, space)), std::move(value));
    }
    return fields;
}

std::string encodeFrameHeader(Channel channel, const FrameAddress& address, std::uint32_t length) {
    FrameHeader header{};
    header.magic = kFrameMagic;
    header.version = kProtocolVersion;
    header.channel = static_cast<std::uint8_t>(channel);
    header.job = address.job;
    header.rank = address.rank;
    header.incarnation = address.incarnation;
    header.length = length;
    std::string bytes(sizeof header, '\0');
    std::memcpy(bytes.data(), &header, sizeof header);
    return bytes;
}

std::string encodeFrame(Channel channel, const FrameAddress& address, std::string_view body) {
    std::string bytes = encodeFrameHeader(channel, address, static_cast<std::uint32_t>(body.size()));
    bytes.append(body);
    return bytes;
}

void FrameReader::append(std::string_view bytes) {
    if (!m_error.empty()) {
        return;
    }
    if (m_used > 0 && m_used >= m_buffer.size() / 2) {
        m_buffer.erase(0, m_used);
        m_used = 0;
    }
    m_buffer.append(bytes);
}

bool FrameReader::next(Frame& frame) {
    if (!m_error.empty() || m_buffer.size() - m_used < sizeof(FrameHeader)) {
        return false;
    }
    FrameHeader header{};
    std::memcpy(&header, m_buffer.data() + m_used, sizeof header);
    if (header.magic != kFrameMagic) {
        m_error = "the bytes are no frame of Stopline's agent protocol";
    } else if (m_otherVersion = header.version; header.version != kProtocolVersion) {
        m_error = "the other side speaks version " + std::to_string(header.version) +
                  " of the agent protocol, this side version " + std::to_string(kProtocolVersion);
    } else if (header.channel < static_cast<std::uint8_t>(Channel::Hello) ||
               header.channel > static_cast<std::uint8_t>(Channel::Values)) {
        m_error = "unknown channel " + std::to_string(header.channel);
    } else if (header.length > m_limit) {
        m_error = "a frame of " + std::to_string(header.length) + " bytes is larger than the " +
                  std::to_string(m_limit) + " allowed";
    }
    if (!m_error.empty()) {
        return false;
    }
    if (m_buffer.size() - m_used - sizeof header < header.length) {
        return false;
    }
    frame.header = header;
    frame.body.assign(m_buffer, m_used + sizeof header, header.length);
    m_used += sizeof header + header.length;
    return true;
}

std::int64_t numberField(const Fields& fields, std::string_view name, std::int64_t fallback) {
    return parseField(fields, name, fallback);
}

std::uint64_t unsignedField(const Fields& fields, std::string_view name, std::uint64_t fallback) {
    return parseField(fields, name, fallback);
}

std::string textField(const Fields& fields, std::string_view name) {
    const auto found = fields.find(name);
    return found == fields.end() ? std::string() : found->second;
}

bool equalConstantTime(std::string_view left, std::string_view right) {
    // Volatile keeps the compiler from leaving the loop at the first difference.
    volatile unsigned char difference = left.size() == right.size() ? 0 : 1;
    for (std::size_t i = 0; i < left.size(); ++i) {
        const char other = right.empty() ? '\0' : right[i % right.size()];
        difference = static_cast<unsigned char>(difference | (left[i] ^ other));
    }
    return difference == 0;
}

} // namespace stopline::agent
