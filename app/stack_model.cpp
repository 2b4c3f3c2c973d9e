#include "stack_model.h"

#include "../replay/session.h"

#include <QFileInfo>
#include <QFont>
#include <QGuiApplication>
#include <QPalette>

namespace stopline::app {

void StackModel::setFrames(const QVector<mi::Frame>& frames, int selected, bool stale) {
    beginResetModel();
    m_frames = frames;
    m_selected = selected;
    m_stale = stale;
    rebuild();
    endResetModel();
}

void StackModel::setSelected(int level) {
    if (level == m_selected) {
        return;
    }
    m_selected = level;
    if (!m_rows.isEmpty()) {
        emit dataChanged(index(0, 0), index(static_cast<int>(m_rows.size()) - 1, ColumnCount - 1));
    }
}

void StackModel::setShowInternal(bool show) {
    beginResetModel();
    m_showInternal = show;
    rebuild();
    endResetModel();
}

void StackModel::rebuild() {
    m_rows.clear();
    for (int i = 0; i < m_frames.size(); ++i) {
        const mi::Frame& frame = m_frames.at(i);
        if (m_showInternal || !replay::Session::isInternalFrame(frame)) {
            m_rows.append({i, 0, {}});
        } else if (!m_rows.isEmpty() && m_rows.last().frame < 0) {
            ++m_rows.last().hidden;
            // The outermost of them is what the user called.
            m_rows.last().innermost = frame.function;
        } else {
            m_rows.append({-1, 1, frame.function});
        }
    }
}

int StackModel::levelAt(int row) const {
    return row >= 0 && row < m_rows.size() ? m_rows.at(row).frame : -1;
}

int StackModel::rowOf(int level) const {
    for (int row = 0; row < m_rows.size(); ++row) {
        if (level >= 0 && m_rows.at(row).frame == level) {
            return row;
        }
    }
    return -1;
}

int StackModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int StackModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant StackModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= m_rows.size()) {
        return {};
    }
    const Row& row = m_rows.at(index.row());
    const QPalette palette = QGuiApplication::palette();
    if (row.frame < 0) {
        if (role == Qt::DisplayRole && index.column() == Function) {
            // The profiling name is what the debug information has; the user called the other one.
            const QString name = row.innermost.startsWith(u"PMPI_") ? row.innermost.mid(1) : row.innermost;
            return row.hidden > 1 ? tr("%1  (and %2 below)").arg(name).arg(row.hidden - 1) : name;
        }
        if (role == Qt::ForegroundRole) {
            return palette.brush(QPalette::PlaceholderText);
        }
        if (role == Qt::ToolTipRole) {
            return tr("Frames of MPI and the debugger are left out. Show them with \"Show frames of MPI\" in "
                      "the menu of this panel.");
        }
        return {};
    }
    const mi::Frame& frame = m_frames.at(row.frame);
    switch (role) {
    case Qt::DisplayRole:
        switch (index.column()) {
        case Level:
            return frame.level;
        case Function:
            return frame.function.isEmpty() ? QStringLiteral("??") : frame.function;
        case Location:
            return frame.line > 0
                       ? QStringLiteral("%1:%2").arg(QFileInfo(frame.file).fileName()).arg(frame.line)
                       : QFileInfo(frame.from).fileName();
        default:
            return {};
        }
    case Qt::ToolTipRole:
        return frame.line > 0 ? QStringLiteral("%1:%2")
                                    .arg(frame.fullName.isEmpty() ? frame.file : frame.fullName)
                                    .arg(frame.line)
                              : tr("0x%1 in %2")
                                    .arg(frame.address, 0, 16)
                                    .arg(frame.from.isEmpty() ? tr("the program") : frame.from);
    case Qt::FontRole: {
        QFont font;
        font.setBold(row.frame == m_selected);
        return font;
    }
    case Qt::ForegroundRole:
        if (m_stale || replay::Session::isInternalFrame(frame)) {
            return palette.brush(QPalette::PlaceholderText);
        }
        return {};
    case Qt::TextAlignmentRole:
        return index.column() == Level ? QVariant(Qt::AlignRight | Qt::AlignVCenter) : QVariant();
    default:
        return {};
    }
}

QVariant StackModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole) {
        return {};
    }
    switch (section) {
    case Level:
        return QStringLiteral("#");
    case Function:
        return tr("Function");
    case Location:
        return tr("Line");
    default:
        return {};
    }
}

} // namespace stopline::app
