#include "gdb_values.h"

#include <array>
#include <charconv>
#include <string_view>
#include <utility>

namespace stopline::mi {

namespace {

StopCause causeOf(std::string_view reason) {
    static constexpr std::array<std::pair<std::string_view, StopCause>, 16> kCauses{{
        {"breakpoint-hit", StopCause::BreakpointHit},
        {"watchpoint-trigger", StopCause::WatchpointTrigger},
        {"read-watchpoint-trigger", StopCause::WatchpointTrigger},
        {"access-watchpoint-trigger", StopCause::WatchpointTrigger},
        {"watchpoint-scope", StopCause::WatchpointScope},
        {"end-stepping-range", StopCause::EndSteppingRange},
        {"function-finished", StopCause::FunctionFinished},
        {"location-reached", StopCause::LocationReached},
        {"signal-received", StopCause::SignalReceived},
        {"exited-normally", StopCause::ExitedNormally},
        {"exited", StopCause::Exited},
        {"exited-signalled", StopCause::ExitedSignalled},
        {"solib-event", StopCause::SolibEvent},
        {"exec", StopCause::Exec},
        {"fork", StopCause::Fork},
        {"vfork", StopCause::Fork},
    }};
    for (const auto& [name, cause] : kCauses) {
        if (name == reason) {
            return cause;
        }
    }
    return StopCause::Unknown;
}

/// gdb writes exit codes in octal with a leading zero.
int exitCodeOf(const std::string& text) {
    int code = 0;
    const char* end = text.data() + text.size();
    const auto [stop, failure] = std::from_chars(text.data(), end, code, 8);
    return failure == std::errc{} && stop == end ? code : 0;
}

/// "Thread 0x7f… (LWP 12)", "LWP 12" or "process 12".
qint64 lwpOf(std::string_view target) {
    for (const std::string_view word : {std::string_view("LWP "), std::string_view("process ")}) {
        const std::size_t at = target.find(word);
        if (at != std::string_view::npos) {
            qint64 lwp = 0;
            std::from_chars(target.data() + at + word.size(), target.data() + target.size(), lwp);
            return lwp;
        }
    }
    return 0;
}

} // namespace

QString toText(const std::string& bytes) {
    return QString::fromUtf8(bytes.data(), static_cast<qsizetype>(bytes.size()));
}

Frame toFrame(const Value& frame) {
    Frame result;
    result.level = frame["level"].toInt();
    result.address = frame["addr"].toUnsigned().value_or(0);
    result.function = toText(frame["func"].text());
    result.file = toText(frame["file"].text());
    result.fullName = toText(frame["fullname"].text());
    result.from = toText(frame["from"].text());
    result.line = frame["line"].toInt();
    return result;
}

Breakpoint toBreakpoint(const Value& breakpoint) {
    const Value& first = breakpoint["locations"].at(0);
    const Value& place = first.isNull() ? breakpoint : first;
    Breakpoint result;
    result.number = breakpoint["number"].toInt();
    result.pending = !breakpoint["pending"].isNull() || breakpoint["addr"].text() == "<PENDING>";
    result.enabled = breakpoint["enabled"].text() != "n";
    result.function = toText(place["func"].text());
    result.file = toText(place["file"].text());
    result.fullName = toText(place["fullname"].text());
    result.line = place["line"].toInt();
    result.address = place["addr"].toUnsigned().value_or(0);
    result.hits = breakpoint["times"].toInt();
    const Value& what = breakpoint["what"];
    result.what = toText((what.isNull() ? breakpoint["original-location"] : what).text());
    return result;
}

StopEvent toStopEvent(const Record& record) {
    StopEvent event;
    event.cause = causeOf(record["reason"].text());
    event.signalName = toText(record["signal-name"].text());
    event.signalMeaning = toText(record["signal-meaning"].text());
    for (const char* field : {"bkptno", "wpnum"}) {
        if (const int number = record[field].toInt(); number > 0) {
            event.breakpoints.append(number);
        }
    }
    for (const char* field : {"wpt", "hw-awpt", "hw-rwpt"}) {
        if (const int number = record[field]["number"].toInt(); number > 0) {
            event.breakpoints.append(number);
        }
    }
    event.threadId = record["thread-id"].toInt();
    event.exitCode = exitCodeOf(record["exit-code"].text());
    event.returnValue = toText(record["return-value"].text());
    event.newProgram = toText(record["new-exec"].text());
    event.frame = toFrame(record["frame"]);
    return event;
}

Thread toThread(const Value& thread) {
    Thread result;
    result.id = thread["id"].toInt();
    result.lwp = lwpOf(thread["target-id"].text());
    result.name = toText(thread["name"].text());
    result.running = thread["state"].text() == "running";
    result.frame = toFrame(thread["frame"]);
    return result;
}

bool isExit(StopCause cause) {
    return cause == StopCause::ExitedNormally || cause == StopCause::Exited ||
           cause == StopCause::ExitedSignalled;
}

} // namespace stopline::mi
