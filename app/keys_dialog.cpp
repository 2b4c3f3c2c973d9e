#include "keys_dialog.h"

#include "key_bindings.h"

#include <QAction>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QKeySequenceEdit>
#include <QLabel>
#include <QPushButton>
#include <QTreeWidget>
#include <QVBoxLayout>

namespace stopline::app {

namespace {

/// "F5", "F5 and C", "F5, C and N"
QString keysText(const Keys& keys) {
    QStringList texts;
    for (const QKeySequence& key : keys) {
        texts << key.toString(QKeySequence::NativeText);
    }
    const QString last = texts.isEmpty() ? QString() : texts.takeLast();
    return texts.isEmpty() ? last : KeysDialog::tr("%1 and %2").arg(texts.join(QStringLiteral(", ")), last);
}

} // namespace

KeysDialog::KeysDialog(KeyBindings* bindings, QWidget* parent) : QDialog(parent), m_bindings(bindings) {
    setWindowTitle(tr("Keys"));
    m_scheme = new QComboBox;
    m_scheme->setObjectName(QStringLiteral("keyScheme"));
    for (const KeyScheme& scheme : keySchemes()) {
        m_scheme->addItem(scheme.title, scheme.name);
    }
    m_list = new QTreeWidget;
    m_list->setObjectName(QStringLiteral("keyList"));
    m_list->setHeaderLabels({tr("Command"), tr("Keys")});
    m_list->setRootIsDecorated(false);
    m_list->setAllColumnsShowFocus(true);
    m_list->setUniformRowHeights(true);
    m_list->header()->setStretchLastSection(true);
    m_edit = new QKeySequenceEdit;
    m_edit->setObjectName(QStringLiteral("keyEdit"));
    m_none = new QPushButton(tr("&No key"));
    m_reset = new QPushButton(tr("&Key of the scheme"));
    for (QPushButton* button : {m_none, m_reset}) {
        button->setAutoDefault(false); // Return is a key like any other here
    }
    m_note = new QLabel;
    m_note->setObjectName(QStringLiteral("keyNote"));
    m_note->setWordWrap(true);
    m_note->setMinimumHeight(2 * fontMetrics().lineSpacing());
    m_note->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    auto* close = new QDialogButtonBox(QDialogButtonBox::Close);
    close->button(QDialogButtonBox::Close)->setAutoDefault(false);

    auto* top = new QFormLayout;
    top->addRow(tr("&Scheme:"), m_scheme);
    auto* change = new QHBoxLayout;
    auto* label = new QLabel(tr("New &key:"));
    label->setBuddy(m_edit);
    change->addWidget(label);
    change->addWidget(m_edit, 1);
    change->addWidget(m_none);
    change->addWidget(m_reset);
    auto* all = new QVBoxLayout(this);
    all->addLayout(top);
    all->addWidget(m_list, 1);
    all->addLayout(change);
    all->addWidget(m_note);
    all->addWidget(close);

    connect(close, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(m_scheme, &QComboBox::activated, this, [this] {
        m_bindings->setScheme(m_scheme->currentData().toString());
        m_note->clear();
    });
    connect(m_bindings, &KeyBindings::keysChanged, this, &KeysDialog::fill);
    connect(m_list, &QTreeWidget::currentItemChanged, this, [this] {
        m_note->clear();
        showChosen();
    });
    connect(m_edit, &QKeySequenceEdit::editingFinished, this, [this] {
        // One chord: a second one is the start of another try.
        const QKeySequence typed = m_edit->keySequence();
        if (!typed.isEmpty()) {
            take(QKeySequence(typed[0]));
        }
    });
    m_edit->installEventFilter(this);
    connect(m_none, &QPushButton::clicked, this, [this] { take({}); });
    connect(m_reset, &QPushButton::clicked, this, [this] {
        if (m_list->currentItem() != nullptr) {
            m_note->clear();
            m_bindings->reset(m_bindings->actions().at(m_list->indexOfTopLevelItem(m_list->currentItem())));
        }
    });
    for (int i = 0; i < m_bindings->actions().size(); ++i) {
        m_list->addTopLevelItem(new QTreeWidgetItem);
    }
    fill();
    m_list->setCurrentItem(m_list->topLevelItem(0));
    m_list->resizeColumnToContents(0);
    resize(fontMetrics().averageCharWidth() * 80, fontMetrics().lineSpacing() * 36);
}

/// Esc leaves the field, as everywhere; it is never made the key of a command.
bool KeysDialog::eventFilter(QObject* watched, QEvent* event) {
    if (watched == m_edit && (event->type() == QEvent::KeyPress || event->type() == QEvent::ShortcutOverride)) {
        const auto* key = static_cast<QKeyEvent*>(event);
        if (key->key() == Qt::Key_Escape && key->modifiers() == Qt::NoModifier) {
            if (event->type() == QEvent::KeyPress) {
                m_edit->clear();
                m_list->setFocus();
            }
            event->accept();
            return true;
        }
    }
    return QDialog::eventFilter(watched, event);
}

void KeysDialog::fill() {
    m_scheme->setCurrentIndex(m_scheme->findData(m_bindings->scheme()));
    for (int i = 0; i < m_bindings->actions().size(); ++i) {
        const QAction* action = m_bindings->actions().at(i);
        QTreeWidgetItem* item = m_list->topLevelItem(i);
        item->setText(0, commandName(action));
        QStringList keys;
        for (const QKeySequence& key : action->shortcuts()) {
            keys << key.toString(QKeySequence::NativeText);
        }
        item->setText(1, keys.join(QStringLiteral(", ")));
        QFont font = m_list->font();
        font.setBold(m_bindings->changed(action));
        item->setFont(1, font);
    }
    showChosen();
}

void KeysDialog::showChosen() {
    m_edit->clear();
    const QTreeWidgetItem* item = m_list->currentItem();
    m_edit->setEnabled(item != nullptr);
    m_none->setEnabled(item != nullptr && !item->text(1).isEmpty());
    m_reset->setEnabled(item != nullptr && m_bindings->changed(m_bindings->actions().at(
                                               m_list->indexOfTopLevelItem(m_list->currentItem()))));
    if (m_note->text().isEmpty()) {
        m_note->setText(
            tr("Choose a command and press its new key. In the diagram its own keys come first (? there "
               "lists them)."));
    }
}

void KeysDialog::take(const QKeySequence& key) {
    if (m_list->currentItem() == nullptr) {
        return;
    }
    QAction* action = m_bindings->actions().at(m_list->indexOfTopLevelItem(m_list->currentItem()));
    Keys gone = action->shortcuts();
    gone.removeAll(key);
    const QAction* before = m_bindings->setKey(action, key);
    QString note = key.isEmpty() ? tr("%1 has no key now.").arg(commandName(action))
                   : before == nullptr
                       ? tr("%1 is the key of %2 now.").arg(keysText({key}), commandName(action))
                       : tr("%1 is the key of %2 now, and no longer that of %3.")
                             .arg(keysText({key}), commandName(action), commandName(before));
    if (!gone.isEmpty()) {
        note += u' ' + (gone.size() == 1 ? tr("%1 does nothing any more.") : tr("%1 do nothing any more."))
                           .arg(keysText(gone));
    }
    m_note->setText(note);
}

} // namespace stopline::app
