#include "focus_selector.h"

#include "actions.h"
#include "look.h"
#include "text.h"
#include "../replay/words.h"

#include <QApplication>
#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QToolButton>

namespace stopline::app {

using replay::Session;

namespace {
constexpr int kMostInMenu = 64; ///< above, "Go to rank…" asks for the number
}

FocusSelector::FocusSelector(Look* look, Actions* actions, QWidget* parent)
    : QWidget(parent), m_look(look), m_actions(actions), m_all(new QToolButton(this)),
      m_group(new QToolButton(this)), m_one(new QToolButton(this)) {
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(6, 0, 6, 0);
    layout->setSpacing(2);
    layout->addWidget(new QLabel(tr("Focus:"), this));
    layout->addWidget(m_all);
    layout->addWidget(m_group);
    layout->addWidget(m_one);
    for (QToolButton* button : {m_all, m_group, m_one}) {
        button->setCheckable(true);
        button->setToolButtonStyle(Qt::ToolButtonTextOnly);
        button->setFocusPolicy(Qt::NoFocus);
    }
    restyle();
    m_all->setText(tr("All ranks"));
    auto* menu = new QMenu(m_one);
    m_one->setMenu(menu);
    m_one->setPopupMode(QToolButton::MenuButtonPopup);
    connect(menu, &QMenu::aboutToShow, this, &FocusSelector::fillMenu);
    connect(m_all, &QToolButton::clicked, actions->scopeAll, &QAction::trigger);
    connect(m_group, &QToolButton::clicked, actions->scopeGroup, &QAction::trigger);
    connect(m_one, &QToolButton::clicked, actions->scopeRank, &QAction::trigger);
    // After the actions, which remember the ranks chosen last.
    connect(actions->scopeGroup, &QAction::changed, this, &FocusSelector::update);
    connect(look->session(), &Session::focusChanged, this, &FocusSelector::update);
    connect(look->session(), &Session::ranksChanged, this, &FocusSelector::update);
    update();
}

/// Who will move must be told at a glance: the chosen one in the colour of selections, in every style. A style sheet
/// keeps the colours it was made with, so it is made again when they change; and it is the buttons' only, as it would
/// also freeze those of the label.
void FocusSelector::restyle() {
    const QPalette p = QApplication::palette();
    const QString sheet =
        QStringLiteral(
            "QToolButton { padding: 3px 8px; border: 1px solid %1; border-radius: 4px; color: %2; }"
            "QToolButton:disabled { color: %3; }"
            "QToolButton[popupMode=\"1\"] { padding-right: 20px; }"
            "QToolButton::menu-button { border: none; width: 16px; }"
            "QToolButton:checked { background: %4; color: %5; border-color: %4; font-weight: bold; }")
            .arg(p.color(QPalette::Mid).name(), p.color(QPalette::ButtonText).name(),
                 p.color(QPalette::Disabled, QPalette::ButtonText).name(), p.color(QPalette::Highlight).name(),
                 p.color(QPalette::HighlightedText).name());
    for (QToolButton* button : {m_all, m_group, m_one}) {
        if (button->styleSheet() != sheet) {
            button->setStyleSheet(sheet);
        }
    }
}

void FocusSelector::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) {
        restyle();
    }
}

void FocusSelector::update() {
    const Session* session = m_look->session();
    const replay::Focus focus = session->focus();
    m_all->setChecked(focus.all());
    m_group->setChecked(!focus.group.isEmpty());
    m_one->setChecked(focus.rank.has_value());
    const replay::Focus& group = m_actions->chosenGroup();
    m_group->setVisible(!group.all());
    if (!group.all()) {
        const QString ranks = rankSetText(rankNumbers(group.group));
        m_group->setText(tr("%1 ranks: %2").arg(group.group.size()).arg(
            m_group->fontMetrics().elidedText(ranks, Qt::ElideRight, m_group->fontMetrics().averageCharWidth() * 18)));
        m_group->setToolTip(m_actions->scopeGroup->toolTip());
    }
    m_one->setText(tr("Rank %1").arg(rankText(session->shownRank())));
    m_one->setEnabled(session->rankCount() > 0);
    m_all->setToolTip(m_actions->scopeAll->toolTip());
    m_one->setToolTip(m_actions->scopeRank->toolTip());
}

void FocusSelector::fillMenu() {
    QMenu* menu = m_one->menu();
    menu->clear();
    Session* session = m_look->session();
    for (int rank = 0; rank < qMin(session->rankCount(), kMostInMenu); ++rank) {
        menu->addAction(tr("Rank %1: %2").arg(rankText(RankId{rank})).arg(replay::stateText(session->rank(RankId{rank}))), this,
                        [session, rank] {
                            session->setFocus({RankId{rank}});
                            session->setShownRank(RankId{rank});
                        });
    }
    if (session->rankCount() > kMostInMenu) {
        menu->addAction(m_actions->chooseRank);
    }
}

} // namespace stopline::app
