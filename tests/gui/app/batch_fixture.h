// What all tests of the script runner begin with.
#pragma once

#include "../../../app/batch.h"
#include "scripted_session.h"

#include <QTest>
#include <QTimer>

using namespace stopline;
using namespace stopline::app;
using namespace stopline::replay;

class BatchFixture : public QObject {
    Q_OBJECT

  protected:
    std::unique_ptr<Session> m_session;
    QStringList m_out;
    QStringList m_err;

    int perform(const QString& text, std::chrono::milliseconds wait = std::chrono::seconds(20)) {
        m_out.clear();
        m_err.clear();
        BatchOptions options;
        options.echoLines = false;
        options.wait = wait;
        options.out = [this](const QString& line) { m_out << line; };
        options.err = [this](const QString& line) { m_err << line; };
        BatchRunner runner(m_session.get(), options);
        return runner.run(parseScript(text, false));
    }

    void setPhase(int rank, RankPhase phase, StopWhy why = StopWhy::None) {
        RankView& view = scriptOf(*m_session).ranks[static_cast<std::size_t>(rank)];
        view.phase = phase;
        view.why = why;
        emit m_session->rankChanged(RankId{rank});
    }

  private slots:
    void init() {
        m_session = std::make_unique<Session>();
        standAt(*m_session, QStringLiteral("/src/solver.c"), {118, 120});
        scriptOf(*m_session).values[QStringLiteral("n")] = QStringLiteral("16");
        scriptOf(*m_session).values[QStringLiteral("p")] = QStringLiteral("(double *) 0x7ffc0123abcd");
    }
};
