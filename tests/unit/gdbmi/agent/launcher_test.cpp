#include "../../../../gdbmi/launcher.h"
#include "../../../../gdbmi/launcher_check.h"

#include <gtest/gtest.h>

namespace stopline::agent {
namespace {

QStringList words(const char* text) {
    const auto result = splitWords(QString::fromUtf8(text));
    EXPECT_TRUE(result.ok()) << text;
    return result ? result.value() : QStringList();
}

struct Case {
    LauncherKind kind;
    const char* line;
    const char* expected; ///< with the agent, or "!" and a part of the error
};

constexpr LauncherKind k4 = LauncherKind::OpenMpi4;
constexpr LauncherKind k5 = LauncherKind::OpenMpi5;
constexpr LauncherKind kHydra = LauncherKind::Mpich;
constexpr LauncherKind kSlurm = LauncherKind::Srun;
constexpr LauncherKind kAny = LauncherKind::Unknown;

const Case kCases[] = {
    {k4, "mpirun ./app", "mpirun AGENT ./app"},
    {k4, "mpirun -n 4 ./app -n 5", "mpirun -n 4 AGENT ./app -n 5"},
    {k4, "mpirun -np 4 --bind-to none ./app args", "mpirun -np 4 --bind-to none AGENT ./app args"},
    {k4, "/usr/bin/mpirun --np 2 app", "/usr/bin/mpirun --np 2 AGENT app"},
    {k4, "mpirun -mca btl self,vader -n 2 ./a", "mpirun -mca btl self,vader -n 2 AGENT ./a"},
    {k4, "mpirun --mca pml ob1 --gmca a b ./a", "mpirun --mca pml ob1 --gmca a b AGENT ./a"},
    {k4, "mpirun -x A -x B=c -H h1,h2 ./a", "mpirun -x A -x B=c -H h1,h2 AGENT ./a"},
    {k4, "mpirun --host h1:2 --map-by ppr:2:node ./a", "mpirun --host h1:2 --map-by ppr:2:node AGENT ./a"},
    {k4, "mpirun -wdir /tmp -output-filename out -tag-output ./a",
     "mpirun -wdir /tmp -output-filename out -tag-output AGENT ./a"},
    {k4, "mpirun --oversubscribe -c 3 ./a", "mpirun --oversubscribe -c 3 AGENT ./a"},
    {k4, "mpirun -rf ranks --report-bindings --timeout 30 ./a",
     "mpirun -rf ranks --report-bindings --timeout 30 AGENT ./a"},
    {k4, "mpirun -n 1 ./a x : -n 2 ./b : ./c y", "mpirun -n 1 AGENT ./a x : -n 2 AGENT ./b : AGENT ./c y"},
    {k4, "mpirun -n 2 python3 -m mpi4py script.py", "mpirun -n 2 AGENT python3 -m mpi4py script.py"},
    {k4, "mpirun -n 2 env A=1 numactl -N 0 ./a", "mpirun -n 2 AGENT env A=1 numactl -N 0 ./a"},
    {k4, "mpirun -n 2 ./my\\ app 'x y'", "mpirun -n 2 AGENT './my app' 'x y'"},
    {k4, "mpirun --display-map -N 2 --am file ./a", "mpirun --display-map -N 2 --am file AGENT ./a"},
    {k4, "mpirun -n 2 -- -strange", "mpirun -n 2 AGENT -strange"},
    {k4, "mpirun --brand-new 5 -n 2 -- ./a", "mpirun --brand-new 5 -n 2 AGENT ./a"},
    {k4, "mpirun --brand-new 5 ./a", "!--brand-new"},
    {k4, "mpirun -n", "!lacks its value"},
    {k4, "mpirun -n 4", "!No program"},
    {k4, "mpirun", "!No program"},
    {k4, "mpirun -n 1 ./a : -n 2", "!No program"},
    {k4, "mpirun -mca btl : ./a", "!lacks its value"},
    {k4, "mpirun --app file", "!from a file"},
    {k5, "mpirun --display map --output tag -n 2 ./a", "mpirun --display map --output tag -n 2 AGENT ./a"},
    {k5, "mpirun --map-by=core --prtemca a b ./a", "mpirun --map-by=core --prtemca a b AGENT ./a"},
    {k5, "mpirun --runtime-options x --stream-buffering 0 ./a",
     "mpirun --runtime-options x --stream-buffering 0 AGENT ./a"},
    {k5, "prterun --mca a b --pmixmca c d ./a", "prterun --mca a b --pmixmca c d AGENT ./a"},
    {kHydra, "mpiexec -n 4 -ppn 2 -genv A 1 ./a", "mpiexec -n 4 -ppn 2 -genv A 1 AGENT ./a"},
    {kHydra, "mpiexec -env A=1 x -f hosts -l ./a", "mpiexec -env A=1 x -f hosts -l AGENT ./a"},
    {kHydra, "mpiexec.hydra -bind-to core:2 -hosts a,b -prepend-rank ./a",
     "mpiexec.hydra -bind-to core:2 -hosts a,b -prepend-rank AGENT ./a"},
    {kHydra, "mpiexec -n 1 ./a : -env B 2 -n 1 ./b", "mpiexec -n 1 AGENT ./a : -env B 2 -n 1 AGENT ./b"},
    {kHydra, "mpiexec -genvlist A,B ./a", "mpiexec -genvlist A,B,STOPLINE_CONNECT,STOPLINE_TOKEN AGENT ./a"},
    {kHydra, "mpiexec -envnone ./a", "mpiexec -envlist STOPLINE_CONNECT,STOPLINE_TOKEN AGENT ./a"},
    {kHydra, "mpiexec -genvnone -n 1 ./a : -n 1 ./b",
     "mpiexec -genvnone -n 1 -envlist STOPLINE_CONNECT,STOPLINE_TOKEN AGENT ./a : -n 1 -envlist "
     "STOPLINE_CONNECT,STOPLINE_TOKEN AGENT ./b"},
    {kHydra, "mpiexec -configfile f", "!from a file"},
    {kSlurm, "srun -n4 ./a", "srun -n4 AGENT ./a"},
    {kSlurm, "srun -n 4 -N 2 --cpu-bind=none ./a -n 9", "srun -n 4 -N 2 --cpu-bind=none AGENT ./a -n 9"},
    {kSlurm, "srun --ntasks 4 --mpi pmix -lu ./a", "srun --ntasks 4 --mpi pmix -lu AGENT ./a"},
    {kSlurm, "srun --ntasks=4 --exclusive --immediate=5 ./a",
     "srun --ntasks=4 --exclusive --immediate=5 AGENT ./a"},
    {kSlurm, "srun -vvv -I30 -K -ln2 ./a", "srun -vvv -I30 -K -ln2 AGENT ./a"},
    {kSlurm, "srun --export=A,B ./a", "srun --export=A,B,STOPLINE_CONNECT,STOPLINE_TOKEN AGENT ./a"},
    {kSlurm, "srun --export NONE ./a", "srun --export STOPLINE_CONNECT,STOPLINE_TOKEN AGENT ./a"},
    {kSlurm, "srun --export=ALL,X=1 ./a", "srun --export=ALL,X=1 AGENT ./a"},
    {kSlurm, "srun -n1 ./a : -n2 ./b", "srun -n1 AGENT ./a : -n2 AGENT ./b"},
    {kSlurm, "srun --multi-prog f", "!from a file"},
    {kSlurm, "srun -y ./a", "!-y"},
    {kAny, "mpirun -n 2 -mca a b ./a", "mpirun -n 2 -mca a b AGENT ./a"},
    {kAny, "mpiexec -genv A 1 -ppn 2 ./a", "mpiexec -genv A 1 -ppn 2 AGENT ./a"},
    {kAny, "mpirun --runtime-options x ./a", "mpirun --runtime-options x AGENT ./a"},
};

TEST(Launcher, Table) {
    for (const Case& line : kCases) {
        const auto command = parseCommand(words(line.line), line.kind);
        const QString expected = QString::fromUtf8(line.expected);
        if (expected.startsWith(u'!')) {
            ASSERT_FALSE(command.ok()) << line.line;
            EXPECT_TRUE(command.error().text.contains(expected.mid(1))) << command.error().text.toStdString();
            continue;
        }
        ASSERT_TRUE(command.ok()) << line.line << ": " << command.error().text.toStdString();
        EXPECT_EQ(joinWords(withAgent(command.value(), QStringLiteral("AGENT"))).toStdString(),
                  line.expected);
        QStringList original = words(line.line);
        original.removeAll(QStringLiteral("--"));
        EXPECT_EQ(withoutAgent(command.value()), original);
    }
    EXPECT_FALSE(parseCommand({}, k4).ok());
}

TEST(Launcher, Ranks) {
    const auto ranks = [](LauncherKind kind, const char* line) {
        return parseCommand(words(line), kind).value().ranks();
    };
    EXPECT_EQ(ranks(k4, "mpirun -n 4 ./a"), 4);
    EXPECT_EQ(ranks(k4, "mpirun -np 4 ./a : -n 3 ./b"), 7);
    EXPECT_EQ(ranks(k4, "mpirun ./a"), 0);
    EXPECT_EQ(ranks(k4, "mpirun -n 2 ./a : ./b"), 0);
    EXPECT_EQ(ranks(kSlurm, "srun -n4 ./a"), 4);
    EXPECT_EQ(ranks(kSlurm, "srun -ln 4 ./a"), 4);
    EXPECT_EQ(ranks(kSlurm, "srun --ntasks=5 ./a"), 5);
    EXPECT_EQ(ranks(kHydra, "mpiexec -n 3 ./a -n 8"), 3);
}

TEST(Launcher, Hosts) {
    const auto hosts = [](const char* line) { return namesHosts(parseCommand(words(line), k4).value()); };
    EXPECT_TRUE(hosts("mpirun -H a,b ./a"));
    EXPECT_TRUE(hosts("mpirun -n 1 ./a : --hostfile f ./b"));
    EXPECT_FALSE(hosts("mpirun -n 1 -x -H ./a")); // the value of -x
    EXPECT_FALSE(hosts("mpirun -n 1 ./a -H x"));
    const auto command = parseCommand(words("mpirun -H a ./a : ./b"), k4).value();
    EXPECT_EQ(joinWords(withAgent(command, QStringLiteral("G"), true)).toStdString(),
              "mpirun -H a -x STOPLINE_CONNECT -x STOPLINE_TOKEN G ./a : -x STOPLINE_CONNECT -x "
              "STOPLINE_TOKEN G ./b");
}

TEST(Launcher, Build) {
    const auto command =
        buildCommand(QStringLiteral("mpirun"), k4, 4, words("--bind-to none"), words("./a x"));
    ASSERT_TRUE(command.ok());
    EXPECT_EQ(joinWords(withAgent(command.value(), QStringLiteral("G"))).toStdString(),
              "mpirun -n 4 --bind-to none G ./a x");
    EXPECT_EQ(command.value().ranks(), 4);
    EXPECT_FALSE(buildCommand(QStringLiteral("mpirun"), k4, 0, {}, words("./a")).ok());
    EXPECT_FALSE(buildCommand(QStringLiteral("mpirun"), k4, 1, {}, {}).ok());
}

TEST(Launcher, Words) {
    EXPECT_EQ(words("a  b\tc"), (QStringList{QStringLiteral("a"), QStringLiteral("b"), QStringLiteral("c")}));
    EXPECT_EQ(words("'a b' \"c d\" e\\ f ''"),
              (QStringList{QStringLiteral("a b"), QStringLiteral("c d"), QStringLiteral("e f"), QString()}));
    EXPECT_EQ(words("\"a\\\"b\\x\" 'c\\'"), (QStringList{QStringLiteral("a\"b\\x"), QStringLiteral("c\\")}));
    EXPECT_FALSE(splitWords(QStringLiteral("a 'b")).ok());
    EXPECT_FALSE(splitWords(QStringLiteral("a \"b")).ok());
    const QStringList hard{QStringLiteral("a'b"), QStringLiteral("c d"), QString(), QStringLiteral("\\"),
                           QStringLiteral("$x \"y\"")};
    EXPECT_EQ(splitWords(joinWords(hard)).value(), hard);
}

TEST(Launcher, Kinds) {
    EXPECT_EQ(kindFromVersion(QStringLiteral("mpirun (Open MPI) 4.1.4\n\nReport bugs")), k4);
    EXPECT_EQ(kindFromVersion(QStringLiteral("mpirun (Open MPI) 5.0.3")), k5);
    EXPECT_EQ(kindFromVersion(QStringLiteral("mpirun (Open MPI) 10.0.0")), k5);
    EXPECT_EQ(kindFromVersion(QStringLiteral("HYDRA build details:\n    Version: 4.0.2")), kHydra);
    EXPECT_EQ(kindFromVersion(QStringLiteral("Intel(R) MPI Library for Linux* OS, Version 2021.9")), kHydra);
    EXPECT_EQ(kindFromVersion(QStringLiteral("slurm 22.05.8")), kSlurm);
    EXPECT_EQ(kindFromVersion(QStringLiteral("something else")), kAny);
    EXPECT_EQ(detectLauncher(QStringLiteral("mpirun")), k4);
    EXPECT_EQ(detectLauncher(QStringLiteral("/nonexistent/mpirun")), kAny);
    EXPECT_EQ(detectLauncher(QStringLiteral("srun")), kSlurm);
    EXPECT_TRUE(isLauncherName(QStringLiteral("/opt/bin/mpiexec.hydra")));
    EXPECT_TRUE(isLauncherName(QStringLiteral("mpirun")));
    EXPECT_FALSE(isLauncherName(QStringLiteral("./mpirunner")));
    EXPECT_FALSE(isLauncherName(QStringLiteral("./app")));
}

QStringList codes(const QVector<Obstacle>& obstacles) {
    QStringList result;
    for (const Obstacle& obstacle : obstacles) {
        EXPECT_FALSE(obstacle.text.isEmpty());
        EXPECT_FALSE(obstacle.remedy.isEmpty());
        result << obstacle.code;
    }
    return result;
}

TEST(LauncherCheck, BeforeTheStart) {
    LaunchEnvironment launch = currentEnvironment(QStringLiteral("mpirun"), k4);
    launch.root = false;
    launch.yamaScope = -1;
    EXPECT_EQ(codes(checkEnvironment(launch)), QStringList());
    launch.root = true;
    launch.environment.remove(QStringLiteral("OMPI_ALLOW_RUN_AS_ROOT"));
    EXPECT_EQ(codes(checkEnvironment(launch)), QStringList{QStringLiteral("root")});
    launch.kind = kHydra;
    EXPECT_EQ(codes(checkEnvironment(launch)), QStringList());
    launch.kind = k4;
    launch.environment.insert(QStringLiteral("OMPI_ALLOW_RUN_AS_ROOT"), QStringLiteral("1"));
    launch.environment.insert(QStringLiteral("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"), QStringLiteral("1"));
    EXPECT_EQ(codes(checkEnvironment(launch)), QStringList());
    launch.yamaScope = 2;
    EXPECT_EQ(codes(checkEnvironment(launch)), QStringList());
    launch.root = false;
    EXPECT_EQ(codes(checkEnvironment(launch)), QStringList{QStringLiteral("ptrace")});
    launch.yamaScope = 1;
    launch.agent = QStringLiteral("/nonexistent/agent");
    launch.environment.insert(QStringLiteral("PATH"), QStringLiteral("/nonexistent"));
    EXPECT_EQ(codes(checkEnvironment(launch)),
              (QStringList{QStringLiteral("launcher-missing"), QStringLiteral("gdb-missing"),
                           QStringLiteral("agent-missing")}));
}

TEST(LauncherCheck, Messages) {
    EXPECT_EQ(
        explainLauncherOutput(QStringLiteral("There are not enough slots available in the system to satisfy"))
            ->code,
        QStringLiteral("slots"));
    EXPECT_EQ(explainLauncherOutput(QStringLiteral("mpirun has detected an attempt to run as root."))->code,
              QStringLiteral("root"));
    EXPECT_EQ(explainLauncherOutput(QStringLiteral("mpirun: Error: unknown option \"--foo\""))->code,
              QStringLiteral("launcher"));
    EXPECT_FALSE(explainLauncherOutput(QStringLiteral("rank 0 says hello")).has_value());
    EXPECT_EQ(explainAttachFailure(QStringLiteral("ptrace: Operation not permitted."), 1)->code,
              QStringLiteral("ptrace"));
    EXPECT_TRUE(explainAttachFailure(QStringLiteral("ptrace: Operation not permitted."), 3)
                    ->text.contains(u"nobody"));
    EXPECT_FALSE(explainAttachFailure(QStringLiteral("No symbol table"), 1).has_value());
}

} // namespace
} // namespace stopline::agent
