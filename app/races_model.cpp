#include "races_model.h"

#include "race_text.h"
#include "text.h"
#include "../replay/words.h"

#include <QHash>

#include <algorithm>

namespace stopline::app {

using namespace replay;

namespace {

// What an index stands for: 0 for a line, else the line of a race, and the race of an alternative, each counted from 1.
constexpr int kLineBits = 24;

quintptr idOf(int line, int race) {
    return (quintptr(race + 1) << kLineBits) | quintptr(line + 1);
}

int lineOf(quintptr id) {
    return int(id & ((quintptr(1) << kLineBits) - 1)) - 1;
}

int raceOf(quintptr id) {
    return int(id >> kLineBits) - 1;
}

} // namespace

RacesModel::RacesModel(Session* session, QObject* parent) : QAbstractItemModel(parent), m_session(session) {
    connect(session, &Session::racesChanged, this, &RacesModel::reload);
    // Call and event numbers of a timeline that is gone mean nothing.
    connect(session, &Session::timelineReplaced, this, [this] {
        beginResetModel();
        m_lines.clear();
        m_shown.clear();
        m_count = 0;
        endResetModel();
    });
    reload();
}

void RacesModel::reload() {
    std::vector<Race> races = m_session->foundRaces();
    m_count = races.size();
    races.resize(std::min(races.size(), kMostRaces));
    if (races == m_shown && (!races.empty() || m_lines.empty())) {
        return; // a selection stays
    }
    beginResetModel();
    m_shown = races;
    m_lines.clear();
    QHash<QString, std::size_t> known;
    for (const Race& race : races) {
        const SourceLocation location = m_session->sourceOf(race.call);
        const QString place = locationText(location);
        const auto at = known.find(place);
        if (at == known.end()) {
            known.insert(place, m_lines.size());
            m_lines.push_back({place, location.function, {}, 0});
        }
        LineRow& line = m_lines[at == known.end() ? m_lines.size() - 1 : *at];
        line.races.push_back({race, std::nullopt});
        line.most = std::max(line.most, race.alternatives);
    }
    endResetModel();
}

const std::vector<Alternative>& RacesModel::alternatives(const RaceRow& row) const {
    if (!row.alternatives) {
        row.alternatives = m_session->races().alternatives(row.race);
    }
    return *row.alternatives;
}

QModelIndex RacesModel::index(int row, int column, const QModelIndex& parent) const {
    if (row < 0 || column < 0 || column >= ColumnCount || row >= rowCount(parent)) {
        return {};
    }
    if (!parent.isValid()) {
        return createIndex(row, column, quintptr(0));
    }
    return parent.internalId() == 0 ? createIndex(row, column, idOf(parent.row(), -1))
                                    : createIndex(row, column, idOf(lineOf(parent.internalId()), parent.row()));
}

QModelIndex RacesModel::parent(const QModelIndex& index) const {
    const quintptr id = index.internalId();
    if (!index.isValid() || id == 0) {
        return {};
    }
    return raceOf(id) < 0 ? createIndex(lineOf(id), 0, quintptr(0)) : createIndex(raceOf(id), 0, idOf(lineOf(id), -1));
}

int RacesModel::rowCount(const QModelIndex& parent) const {
    if (!parent.isValid()) {
        return int(m_lines.size());
    }
    const quintptr id = parent.internalId();
    if (parent.column() != 0) {
        return 0;
    }
    if (id == 0) {
        return int(m_lines[std::size_t(parent.row())].races.size());
    }
    return raceOf(id) >= 0 ? 0 : int(alternatives(m_lines[std::size_t(lineOf(id))].races[std::size_t(parent.row())]).size());
}

bool RacesModel::hasChildren(const QModelIndex& parent) const {
    // Without finding out the alternatives of every race that comes into view.
    return !parent.isValid() ? !m_lines.empty() : parent.column() == 0 && (parent.internalId() == 0 || raceOf(parent.internalId()) < 0);
}

int RacesModel::columnCount(const QModelIndex& /*parent*/) const {
    return ColumnCount;
}

std::optional<CallRef> RacesModel::callAt(const QModelIndex& index) const {
    if (!index.isValid()) {
        return std::nullopt;
    }
    const quintptr id = index.internalId();
    if (id == 0) {
        return m_lines[std::size_t(index.row())].races.front().race.call;
    }
    const LineRow& line = m_lines[std::size_t(lineOf(id))];
    return raceOf(id) < 0 ? line.races[std::size_t(index.row())].race.call
                          : alternatives(line.races[std::size_t(raceOf(id))])[std::size_t(index.row())].send;
}

std::optional<RacesModel::Chosen> RacesModel::chosenAt(const QModelIndex& index) const {
    if (!index.isValid() || index.internalId() == 0 || raceOf(index.internalId()) < 0) {
        return std::nullopt;
    }
    const quintptr id = index.internalId();
    const Race& race = m_lines[std::size_t(lineOf(id))].races[std::size_t(raceOf(id))].race;
    return Chosen{race.call, *callAt(index), race.send};
}

QModelIndex RacesModel::find(CallRef call) const {
    for (std::size_t line = 0; line < m_lines.size(); ++line) {
        const std::vector<RaceRow>& races = m_lines[line].races;
        for (std::size_t row = 0; row < races.size(); ++row) {
            if (races[row].race.call == call || decidingCall(races[row].race) == call) {
                return createIndex(int(row), 0, idOf(int(line), -1));
            }
        }
    }
    return {};
}

QString RacesModel::keyOf(const QModelIndex& index) const {
    if (!index.isValid()) {
        return {};
    }
    const quintptr id = index.internalId();
    if (id == 0) {
        return m_lines[std::size_t(index.row())].place;
    }
    const auto call = callAt(index);
    return keyOf(index.parent()) + QStringLiteral("/%1.%2").arg(call->rank.value()).arg(call->call.value());
}

QString RacesModel::lineText(const LineRow& line, int column) const {
    switch (column) {
    case Where:
        return line.place.isEmpty()      ? tr("no line known")
               : line.function.isEmpty() ? line.place
                                         : tr("%1 in %2").arg(line.place, shortFunction(line.function));
    case Got:
        return line.races.size() == 1 ? tr("1 race") : tr("%1 races").arg(line.races.size());
    default:
        return line.races.size() == 1 ? QString::number(line.most) : tr("up to %1").arg(line.most);
    }
}

QString RacesModel::raceText(const RaceRow& row, int column) const {
    const Timeline& timeline = m_session->timeline();
    switch (column) {
    case Where: {
        const Call call = timeline.call(row.race.call);
        return tr("rank %1 event %2 %3")
            .arg(rankText(row.race.call.rank))
            .arg(call.begin.value())
            .arg(callName(timeline, row.race.call));
    }
    case Got:
        return outcomeText(timeline, row.race);
    default:
        return QString::number(row.race.alternatives);
    }
}

QString RacesModel::alternativeText(const Alternative& one, int column) const {
    const Timeline& timeline = m_session->timeline();
    switch (column) {
    case Where: {
        const QString place = locationText(m_session->sourceOf(one.send));
        const Call call = timeline.call(one.send);
        const QString text = tr("rank %1 event %2 %3")
                                 .arg(rankText(one.sender))
                                 .arg(call.begin.value())
                                 .arg(callName(timeline, one.send));
        return place.isEmpty() ? text : text + u' ' + place;
    }
    case Got:
        return one.receive ? tr("tag %1, was received by event %2").arg(one.tag).arg(timeline.call(*one.receive).begin.value())
                           : tr("tag %1, was not received").arg(one.tag);
    default:
        return tr("could have come");
    }
}

QVariant RacesModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || (role != Qt::DisplayRole && role != Qt::ToolTipRole)) {
        return {};
    }
    const quintptr id = index.internalId();
    if (id == 0) {
        return lineText(m_lines[std::size_t(index.row())], index.column());
    }
    const LineRow& line = m_lines[std::size_t(lineOf(id))];
    if (raceOf(id) < 0) {
        return raceText(line.races[std::size_t(index.row())], index.column());
    }
    const RaceRow& row = line.races[std::size_t(raceOf(id))];
    const Alternative& one = alternatives(row)[std::size_t(index.row())];
    return role == Qt::ToolTipRole ? QString::fromStdString(reasonText(m_session->timeline(), row.race, one))
                                   : alternativeText(one, index.column());
}

QVariant RacesModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole) {
        return {};
    }
    switch (section) {
    case Where:
        return tr("Receive or probe of any source");
    case Got:
        return tr("Outcome");
    case Others:
        return tr("Others");
    default:
        return {};
    }
}

} // namespace stopline::app
