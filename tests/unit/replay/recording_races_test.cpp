// What `stopline info` says of races.
#include "recording_fixture.h"

#include "../../../replay/recording_summary.h"

namespace stopline::replay::test {
namespace {

trace::EventDetails ended(const trace::EventDetails& begin) {
    trace::EventDetails end;
    end.kind = trace::EventKind::End;
    end.function = begin.function;
    return end;
}

/// A rank of three: 0 receives a message of 1 and one of 2, from any source or by name; the others send.
std::vector<trace::EventDetails> rank(std::int32_t number, bool anySource) {
    std::vector<trace::EventDetails> step;
    for (const std::int32_t from : {1, 2}) {
        trace::EventDetails begin;
        begin.comm = kCommWorld;
        if (number == 0) {
            begin.function = trace::FunctionId::Recv;
            begin.site = CodeAddress{0x1000 + 0x42 + static_cast<std::uint64_t>(from) * 0x10};
            begin.recvPeer = anySource ? kAnySource : from;
            begin.recvTag = 5;
            step.push_back(begin);
            step.push_back(ended(begin));
            step.back().status = {from, 5, 8, false};
        } else if (number == from) {
            begin.function = trace::FunctionId::Send;
            begin.sendPeer = 0;
            begin.sendTag = 5;
            begin.sendBytes = 8;
            step.push_back(begin);
            step.push_back(ended(begin));
        }
    }
    return step;
}

QStringList racesIn(const std::string& path) {
    LoadedRecording loaded;
    EXPECT_EQ(loadRecording(QString::fromStdString(path), loaded), QString());
    const QStringList lines = summaryLines(loaded);
    const auto title = lines.indexOf(QStringLiteral("Races"));
    EXPECT_GE(title, 0);
    return lines.mid(title + 1, lines.indexOf(QString(), title) - title - 1);
}

void write(const std::string& path, bool anySource) {
    RecordingWriter writer;
    ASSERT_EQ(writer.open(path), "");
    EXPECT_TRUE(writer.add(ChunkType::Job, -1, encodeFileFields({{"stopline", "9.9"}, {"ranks", "3"}})));
    for (std::int32_t number = 0; number < 3; ++number) {
        EXPECT_TRUE(writer.add(ChunkType::Rank, number,
                               encodeFileFields({{"host", "node"}, {"program", "./a"}, {"clock", "0"}})));
        EXPECT_TRUE(writer.add(ChunkType::Modules, number, kModules));
        EXPECT_TRUE(writer.addImage(number, bench::recording(rank(number, anySource), number, 3, 5), true));
        EXPECT_TRUE(writer.add(ChunkType::Exit, number, encodeFileFields({{"status", "0"}})));
    }
    SiteTable sites;
    sites[{"/bin/app one", "ab12", 0x51}] = {"/src/app.c", 7, "main"};
    sites[{"/bin/app one", "ab12", 0x61}] = {"/src/app.c", 9, "main"};
    EXPECT_TRUE(writer.add(ChunkType::Sites, -1, encodeSites(sites)));
    EXPECT_TRUE(
        writer.add(ChunkType::End, -1, encodeFileFields({{"took", "1500"}, {"code", "0"}, {"lost", ""}})));
    ASSERT_EQ(writer.finish(), "");
}

TEST(RecordingRaces, BySourceLineWithWhatATraceNeeds) {
    const QTemporaryDir folder;
    const std::string path = (folder.path() + QStringLiteral("/run.stopline")).toStdString();
    write(path, true);
    // Ten receives in turn: the last has nothing left to get.
    EXPECT_EQ(
        racesIn(path),
        QStringList({QStringLiteral("  app.c:7  MPI_Recv  5 times on rank 0, with 1 other message each"),
                     QStringLiteral("  app.c:9  MPI_Recv  4 times on rank 0, with 1 other message each"),
                     QStringLiteral("  to repeat the run, the order of 9 of 10 messages is enough (90.0 %), "
                                    "at least 5 are needed")}));
}

TEST(RecordingRaces, NoneWhereReceivesNameTheirSource) {
    const QTemporaryDir folder;
    const std::string path = (folder.path() + QStringLiteral("/run.stopline")).toStdString();
    write(path, false);
    EXPECT_EQ(racesIn(path), QStringList({QStringLiteral("  none"),
                                          QStringLiteral("  to repeat the run, the order of none of its 10 messages is needed")}));
}

} // namespace
} // namespace stopline::replay::test
