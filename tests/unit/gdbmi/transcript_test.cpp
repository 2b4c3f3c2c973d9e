// The session on recorded conversations: no gdb needed, the same every time.
#include "../../../gdbmi/transcript.h"

#include "gdb_fixture.h"
#include "scenes.h"

#include <QFile>
#include <QRegularExpression>
#include <QTemporaryDir>

namespace stopline::mi {
namespace {

QByteArray contents(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

class TranscriptTest : public ::testing::TestWithParam<Scene> {};

TEST_P(TranscriptTest, GivesTheRecordedAnswers) {
    const QString base = QStringLiteral(TRANSCRIPTS "/") + GetParam().name;
    const QByteArray text = contents(base + QStringLiteral(".mi"));
    const auto pid = QRegularExpression(QStringLiteral("-target-attach (\\d+)"))
                         .match(QString::fromUtf8(text))
                         .captured(1);
    ASSERT_FALSE(pid.isEmpty());
    TranscriptPlayer player;
    player.loadText(text);
    GdbSession session(&player);
    QString death;
    QObject::connect(&session, &GdbSession::died, &session, [&](const QString& why) { death = why; });
    QTimer::singleShot(0, &player, &TranscriptPlayer::start);
    const QStringList answers = playScene(GetParam(), session, pid.toLongLong());
    EXPECT_EQ((answers.join(QLatin1Char('\n')) + QLatin1Char('\n')).toStdString(),
              contents(base + QStringLiteral(".txt")).toStdString());
    EXPECT_EQ(death.toStdString(), "");
    session.quit();
    EXPECT_TRUE(waitUntil([&] { return session.state() == GdbState::Dead; }));
    EXPECT_TRUE(player.finished());
}

std::vector<Scene> allScenes() {
    const QVector<Scene> all = scenes();
    return {all.begin(), all.end()};
}

std::string nameOf(const ::testing::TestParamInfo<Scene>& scene) {
    return scene.param.name.toStdString();
}

INSTANTIATE_TEST_SUITE_P(Scenes, TranscriptTest, ::testing::ValuesIn(allScenes()), nameOf);

TEST(Transcript, ADifferentRequestIsNamed) {
    TranscriptPlayer player;
    player.loadText("< (gdb) \n> 1-gdb-set mi-async on\n< 1^done\n");
    QString why;
    QObject::connect(&player, &MiTransport::closed, &player, [&](const QString& text) { why = text; });
    player.start();
    player.send("1-something-else\n");
    EXPECT_TRUE(why.contains(QStringLiteral("-gdb-set mi-async on")) &&
                why.contains(QStringLiteral("-something-else")));
}

TEST(Transcript, IsWrittenAsItIsRead) {
    const QTemporaryDir directory;
    const QString path = directory.filePath(QStringLiteral("t.mi"));
    {
        TranscriptWriter writer(path);
        ASSERT_TRUE(writer.ok());
        writer.sent("1-a\n");
        writer.received("1^do");
        writer.received("ne\n(gdb) \n~\"x");
        writer.note(QStringLiteral("end"));
    }
    EXPECT_EQ(contents(path).toStdString(), "> 1-a\n< 1^done\n< (gdb) \n< ~\"x\n# end\n");
}

} // namespace
} // namespace stopline::mi
