#include "focus_selector.h"

#include "actions.h"
#include "look.h"
#include "text.h"

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
      m_one(new QToolButton(this)) {
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(6, 0, 6, 0);
    layout->setSpacing(2);
    layout->addWidget(new QLabel(tr("Focus:"), this));
    layout->addWidget(m_all);
    layout->addWidget(m_one);
    for (QToolButton* button : {m_all, m_one}) {
        button->setCheckable(true);
        button->setToolButtonStyle(Qt::ToolButtonTextOnly);
        button->setFocusPolicy(Qt::NoFocus);
    }
    // Who will move must be told at a glance: the chosen one in the colour of selections, in every style.
    setStyleSheet(QStringLiteral(
        "QToolButton { padding: 3px 8px; border: 1px solid palette(mid); border-radius: 4px; }"
        "QToolButton[popupMode=\"1\"] { padding-right: 20px; }"
        "QToolButton::menu-button { border: none; width: 16px; }"
        "QToolButton:checked { background: palette(highlight); color: palette(highlighted-text); "
        "border-color: palette(highlight); font-weight: bold; }"));
    m_all->setText(tr("All ranks"));
    auto* menu = new QMenu(m_one);
    m_one->setMenu(menu);
    m_one->setPopupMode(QToolButton::MenuButtonPopup);
    connect(menu, &QMenu::aboutToShow, this, &FocusSelector::fillMenu);
    connect(m_all, &QToolButton::clicked, actions->scopeAll, &QAction::trigger);
    connect(m_one, &QToolButton::clicked, actions->scopeRank, &QAction::trigger);
    connect(look->session(), &Session::focusChanged, this, &FocusSelector::update);
    connect(look->session(), &Session::ranksChanged, this, &FocusSelector::update);
    update();
}

void FocusSelector::update() {
    const Session* session = m_look->session();
    const bool one = session->focus().rank.has_value();
    m_all->setChecked(!one);
    m_one->setChecked(one);
    m_one->setText(tr("Rank %1").arg(session->shownRank().value()));
    m_one->setEnabled(session->rankCount() > 0);
    m_all->setToolTip(m_actions->scopeAll->toolTip());
    m_one->setToolTip(m_actions->scopeRank->toolTip());
}

void FocusSelector::fillMenu() {
    QMenu* menu = m_one->menu();
    menu->clear();
    Session* session = m_look->session();
    for (int rank = 0; rank < qMin(session->rankCount(), kMostInMenu); ++rank) {
        menu->addAction(tr("Rank %1: %2").arg(rank).arg(replay::stateText(session->rank(RankId{rank}))), this,
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
