#include "column_share.h"

#include "theme.h"

#include <QAbstractItemModel>
#include <QEvent>
#include <QFontMetrics>
#include <QHeaderView>
#include <QTreeView>

namespace stopline::app {

namespace {

constexpr int kNarrowest = 56;      ///< pixels of a name or a value, however little room there is
constexpr int kDigitsOfNumber = 24; ///< -1.2345678901234567e-308
constexpr int kFewestDigits = 10;   ///< room that a value has also where all values are short
constexpr int kLettersOfType = 5;   ///< fewer say nothing

} // namespace

ColumnWidths shareWidth(int width, const ColumnWidths& wanted, int longestNumber, int narrowestType) {
    ColumnWidths result;
    const int value = qMax(kNarrowest, qMin(wanted.value, longestNumber));
    result.name = qBound(kNarrowest, wanted.name, qMax(kNarrowest, width / 3));
    result.name = qMax(kNarrowest, qMin(result.name, width - value));
    const int left = width - result.name - value;
    if (left >= narrowestType) {
        result.type = qMin(left, qMin(qMax(wanted.type, narrowestType), qMax(width / 3, narrowestType)));
    }
    result.value = qMax(0, width - result.name - result.type);
    return result;
}

ColumnShare::ColumnShare(QTreeView* view) : QObject(view), m_view(view) {
    m_due.setSingleShot(true);
    m_due.setInterval(0);
    connect(&m_due, &QTimer::timeout, this, &ColumnShare::apply);
    view->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    view->header()->setStretchLastSection(false);
    view->viewport()->installEventFilter(this);
    const auto later = qOverload<>(&QTimer::start);
    const QAbstractItemModel* model = view->model();
    connect(model, &QAbstractItemModel::dataChanged, &m_due, later);
    connect(model, &QAbstractItemModel::rowsInserted, &m_due, later);
    connect(model, &QAbstractItemModel::rowsRemoved, &m_due, later);
    connect(view, &QTreeView::expanded, &m_due, later);
    connect(view, &QTreeView::collapsed, &m_due, later);
    connect(view->header(), &QHeaderView::sectionResized, this, [this](int section) {
        if (!m_applying && section < 2) {
            m_manual = true;
            apply();
        }
    });
    connect(view->header(), &QHeaderView::sectionHandleDoubleClicked, this, [this] {
        m_manual = false;
        m_due.start();
    });
    apply();
}

bool ColumnShare::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::Resize || event->type() == QEvent::FontChange) {
        m_due.start(); // not from inside the layout of the view
    }
    return QObject::eventFilter(watched, event);
}

void ColumnShare::apply() {
    QHeaderView* header = m_view->header();
    const int width = m_view->viewport()->width();
    ColumnWidths widths;
    const QFontMetrics fixed(fixedFont());
    const int margin = 12;
    const int narrowestType = m_view->fontMetrics().averageCharWidth() * kLettersOfType + margin;
    if (m_manual) {
        widths.name = header->sectionSize(0);
        widths.value = qMin(header->sectionSize(1), qMax(kNarrowest, width - widths.name));
        widths.type = width - widths.name - widths.value;
        widths.type = widths.type >= narrowestType / 2 ? widths.type : 0;
    } else {
        const auto* view = static_cast<const QAbstractItemView*>(m_view); // there the hints are public
        const ColumnWidths wanted{
            view->sizeHintForColumn(0),
            qMax(view->sizeHintForColumn(1), fixed.horizontalAdvance(u'0') * kFewestDigits),
            view->sizeHintForColumn(2)};
        widths = shareWidth(width, wanted, fixed.horizontalAdvance(u'0') * kDigitsOfNumber + margin,
                            narrowestType);
    }
    m_applying = true;
    header->setSectionHidden(2, widths.type == 0);
    header->resizeSection(0, widths.name);
    header->resizeSection(1, widths.value);
    if (widths.type > 0) {
        header->resizeSection(2, widths.type);
    }
    m_applying = false;
}

} // namespace stopline::app
