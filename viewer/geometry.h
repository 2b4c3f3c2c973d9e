// What a view of the diagram consists of, in pixels relative to the top left of the plot. Built once per
// view, painted as often as needed, looked at by tests. No painting types but points.
#pragma once

#include "../replay/place.h"
#include "axis_view.h"
#include "call_style.h"
#include "diagram_widget.h"
#include "row_layout.h"

#include <QPointF>

#include <optional>
#include <vector>

namespace stopline::viewer {

enum class Dim : std::uint8_t { None, SecondHalf, All };

/// One call drawn by itself. Pixels are integers: boxes are not anti-aliased.
struct Box {
    int x0 = 0;
    int x1 = 1; ///< exclusive
    int y0 = 0;
    int y1 = 1; ///< exclusive
    int row = 0;
    std::uint32_t call = 0;
    CallStyle style = CallStyle::Other;
    Severity severity = Severity::Compute;
    bool unfinished = false; ///< fades to the right, no right border
    bool openLeft = false;   ///< begins left of what is drawn here
    bool openRight = false;  ///< ends right of the view
    bool dimmed = false;     ///< recorded, not executed again
    friend bool operator==(const Box&, const Box&) = default;
};

/// A pixel column that shows one or more calls.
struct Cell {
    int x = 0;
    std::uint32_t count = 1;
    std::uint32_t call = 0; ///< the worst of them
    CallStyle style = CallStyle::Other;
    Severity severity = Severity::Compute;
    bool dimmed = false;
    friend bool operator==(const Cell&, const Cell&) = default;
};

/// The cells of one row, by x. Painted by scan line.
struct Strip {
    int row = 0;
    int y0 = 0;
    int y1 = 1;
    std::vector<Cell> cells;
};

/// Row-wide marks.
struct RowMarks {
    int row = 0;
    int top = 0;
    int height = 1;
    int barTop = 0;
    int barBottom = 1;
    int firstX = 0;          ///< where the rank's recording begins
    std::uint64_t unreadFrom = 0; ///< not 0: of the missing events, those from this one on had not been read
    std::uint64_t startEvent = 0; ///< not 0: events before this one are missing, hatch from here to the left
    int lastX = 0;           ///< where it ends: hatch from here to the right
    bool open = false;       ///< running: no hatch, fades
    std::optional<int> dimX; ///< from here to lastX is recorded, not executed again
    std::optional<int> freshX0;
    int freshX1 = 0;
    bool focused = false;
    bool zebra = false;
};

struct HeldBand {
    int x0 = 0;
    int x1 = 0;
    int y0 = 0;
    int y1 = 0;
};

/// Tick at the issue of a non-blocking call: down for sends, up for receives.
struct PostTick {
    int x = 0;
    int y = 0;
    int row = 0;
    bool down = true;
    CallStyle style = CallStyle::Send;
    bool dimmed = false;
};

enum class MessageShape : std::uint8_t {
    Matched,
    Backwards,        ///< received before sent, by the approximate clock
    Sent,             ///< not received: half solid, half dashed, hollow circle
    Awaited,          ///< receive posted, not sent: dashed, solid at the receiver
    WildcardStub,     ///< receive from any source: short stub with '?'
    UnmatchedSend,    ///< its receiver has ended: error colour with X
    UnmatchedReceive, ///< its sender has ended: error colour with X
};

struct MessageLine {
    QPointF from; ///< sender side; for stubs the outer end
    QPointF to;   ///< receiver side
    MessageShape shape = MessageShape::Matched;
    Dim dim = Dim::None;
    bool head = false;
    bool self = false; ///< sender is receiver: drawn as a bow below the bar
    std::uint32_t message = 0;
    friend bool operator==(const MessageLine&, const MessageLine&) = default;
};

/// Many messages between two groups of rows in one slot of time.
struct Ribbon {
    QPointF from;
    QPointF to;
    double width = 1; ///< pixels, by log2 of the count
    std::uint32_t count = 0;
    std::uint32_t open = 0;
};

/// The amber part of a blocking receive before its message was sent.
struct WaitMark {
    int x0 = 0;
    int x1 = 0;
    int y0 = 0;
    int y1 = 0;
    bool dimmed = false;
};

/// Where the message of a receive or probe came that could have got another one; it stands for all that are too near
/// to each other for rings of their own.
struct RaceRing {
    QPointF at;                     ///< centre
    double radius = 0;              ///< to the outer edge; kRaceMark: a mark instead of a ring
    int row = 0;
    std::uint32_t call = 0;         ///< the receive or probe; of several the one with most alternatives
    std::uint32_t alternatives = 0; ///< the most that one of them has
    std::uint32_t races = 0;
    bool merged = false; ///< they came at several places
    bool dimmed = false; ///< none of them has been executed again
    int room = 0;        ///< free pixels right of it, for its number; at full rows only
    friend bool operator==(const RaceRing&, const RaceRing&) = default;
};
/// The radius of a mark three pixels high, for rows too low for rings.
inline constexpr double kRaceMark = 1.5;

/// From the begin of a send to the ring of the race that it could have won.
struct GhostLine {
    QPointF from;
    QPointF to;
    bool begins = false; ///< `from` is where the send begins, not where the line is cut off
    bool dimmed = false;
    friend bool operator==(const GhostLine&, const GhostLine&) = default;
};

enum class DotKind : std::uint8_t { Member, Root, Missing };
struct SpineDot {
    QPointF at;
    DotKind kind = DotKind::Member;
    double enterX = 0; ///< where this member entered: a wedge from here to the spine
    int row = 0;
    bool dimmed = false;
};
struct Spine {
    std::vector<SpineDot> dots; ///< by row; the line runs through them
    bool complete = false;
    bool mismatch = false;
    bool dimmed = false; ///< some member has not executed its part again
    std::uint32_t collective = 0;
};

struct StopMarkGeometry {
    int x = 0;
    int row = 0;
    int y0 = 0;
    int y1 = 0;
    StopMark mark = StopMark::None;
    bool current = false;
};
/// The posts of one stop, by row.
struct StopGeometry {
    int number = 0;
    std::vector<StopMarkGeometry> posts;
    std::optional<int> rulerX;
};

enum class LineKind : std::uint8_t { Past, Future, Stopline, Ghost };
struct LineStep {
    int row = 0;
    double x = 0;
    int y0 = 0;
    int y1 = 0;
    bool hollow = false; ///< the rank cannot stop there in user code
    replay::Place place;
    int obstacle = -1; ///< index into the line's obstacles
};
struct LineGeometry {
    LineKind kind = LineKind::Past;
    std::vector<LineStep> steps; ///< visible rows, from the top
    bool weak = false;           ///< a frontier beside the one that a stopline would be made of
};

struct PointGeometry {
    QPointF at;
    bool after = false;
    double radius = 6;
};

/// The outline of a call with the messages that belong to it.
struct SelectionGeometry {
    replay::CallRef call;
    std::optional<Box> box;            ///< nothing if out of view
    std::vector<Box> partners;         ///< the calls at the other ends, if in view
    std::vector<MessageLine> messages; ///< clipped to the view
    std::optional<Box> requestFrom;    ///< the post that this call completes, or the completion of this post
    /// Where the outcome of its races was known, if in view: where there are several, of that with most alternatives.
    std::optional<RaceRing> race;
    std::vector<GhostLine> alternatives; ///< clipped to the view; to where `race` is, also if that is out of view
    std::size_t moreAlternatives = 0;    ///< that cross the view and are not drawn
};

struct Geometry {
    Axis axis = Axis::Time;
    AxisView view;
    RowLayout layout;
    std::vector<double> grid; ///< pixels of the ruler's ticks
    std::vector<RowMarks> rows;
    std::vector<HeldBand> held;
    std::vector<Box> boxes;
    std::vector<Strip> strips;
    std::vector<PostTick> ticks;
    std::vector<Spine> spines;
    std::vector<WaitMark> waits;
    std::vector<RaceRing> races; ///< by row, then x; rows that have their marks together are one
    std::vector<Ribbon> ribbons;
    std::vector<MessageLine> messages;
    std::vector<MessageLine> pending;
    std::vector<StopGeometry> stops;
    std::vector<LineGeometry> lines;
    std::optional<PointGeometry> point;
    std::optional<SelectionGeometry> selection;
    std::size_t messagesShown = 0;  ///< single lines drawn
    std::size_t messagesInView = 0; ///< that cross the view
    std::size_t aggregated = 0;     ///< calls behind cells with more than one
};

} // namespace stopline::viewer
