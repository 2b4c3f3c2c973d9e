#include "note_view.h"

#include <QHeaderView>
#include <QPainter>

namespace stopline::app {

NoteView::NoteView(QWidget* parent) : QTreeView(parent) {
    setRootIsDecorated(false);
    setUniformRowHeights(true);
    setAllColumnsShowFocus(true);
    setSelectionBehavior(QAbstractItemView::SelectRows);
    setAlternatingRowColors(true);
    setFrameShape(QFrame::NoFrame);
    setTextElideMode(Qt::ElideRight);
    header()->setStretchLastSection(true);
    header()->setHighlightSections(false);
    header()->setMinimumSectionSize(16);
}

void NoteView::setNote(const QString& note) {
    m_note = note;
    viewport()->update();
}

void NoteView::paintEvent(QPaintEvent* event) {
    QTreeView::paintEvent(event);
    if (m_note.isEmpty() || (model() != nullptr && model()->rowCount() > 0)) {
        return;
    }
    QPainter painter(viewport());
    painter.setPen(palette().color(QPalette::PlaceholderText));
    painter.drawText(viewport()->rect().adjusted(12, 8, -12, -8), Qt::AlignCenter | Qt::TextWordWrap, m_note);
}

} // namespace stopline::app
