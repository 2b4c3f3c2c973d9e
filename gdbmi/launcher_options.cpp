#include "launcher_options.h"

#include <QHash>

#include <initializer_list>

namespace stopline::agent {
namespace {

struct Entry {
    int values;
    const char* names; ///< without dashes, separated by blanks
    OptionRole role = OptionRole::None;
};

using Table = QHash<QString, OptionInfo>;

Table makeTable(std::initializer_list<Entry> entries) {
    Table table;
    for (const Entry& entry : entries) {
        for (const QString& name : QString::fromLatin1(entry.names).split(u' ', Qt::SkipEmptyParts)) {
            table.insert(name, OptionInfo{entry.values, entry.role, {}});
        }
    }
    return table;
}

// orterun of Open MPI 4.1: one or two dashes alike, never "option=value".
const Table& openMpi4() {
    static const Table table = makeTable({
        {1, "c n np", OptionRole::Ranks},
        {1, "H host hostfile machinefile default-hostfile", OptionRole::Hosts},
        {1, "app", OptionRole::Programs},
        {2, "mca gmca"},
        {1, "N am amca bind-to cf cartofile cpu-list cpu-set cpus-per-proc cpus-per-rank debugger hnp "
            "launch-agent "
            "map-by max-restarts max-vm-size npernode npersocket ompi-server output-filename path "
            "personality ppr "
            "prefix preload-files rank-by rankfile report-events report-pid report-uri rf stdin timeout tune "
            "wd wdir "
            "x xml-file xterm cpu-type server-wait-time tmpdir"},
        {0,
         "allow-run-as-root bind-to-core bind-to-socket bycore bynode byslot continuous d debug "
         "debug-daemons "
         "debug-daemons-file debug-devel disable-recovery display-allocation display-devel-allocation "
         "display-devel-map display-diffable-map display-map display-topo do-not-launch do-not-resolve dvm "
         "enable-instant-on-support enable-recovery fwd-mpirun-port get-stack-traces h help "
         "index-argv-by-rank "
         "leave-session-attached merge-stderr-to-stdout nolocal nooversubscribe noprefix novm "
         "output-proctable "
         "oversubscribe pernode preload-binary q quiet report-bindings report-child-jobs-separately "
         "report-state-on-timeout s set-cwd-to-session-dir show-progress tag-output timestamp-output tv "
         "use-hwthread-cpus use-regexp v V verbose version xml wait-for-server"},
    });
    return table;
}

// mpirun of Open MPI 5, which is prterun.
const Table& openMpi5() {
    static const Table table = makeTable({
        {1, "c n np", OptionRole::Ranks},
        {1, "H host hostfile machinefile default-hostfile", OptionRole::Hosts},
        {1, "app", OptionRole::Programs},
        {2, "mca gmca omca gomca prtemca pmixmca gpmixmca gprtemca"},
        {1,
         "N am amca arch bind-to cpu-list cpu-set cpus-per-proc cpus-per-rank display display-topo dvm "
         "dvm-uri file "
         "forward-signals initial-errhandler launch-agent map-by max-restarts max-vm-size memory-alloc-kinds "
         "npernode npersocket output output-directory output-filename path personality ppr prefix "
         "preload-files "
         "pset rank-by rankfile report-pid report-uri runtime-options rtos spawn-timeout stdin "
         "stream-buffering "
         "timeout tmpdir tune wd wdir with-ft x xterm"},
        {0,
         "allow-run-as-root bind-to-core bind-to-socket bycore bynode byslot continuous d debug "
         "debug-daemons "
         "debug-daemons-file debug-devel disable-recovery display-allocation display-comm "
         "display-comm-finalize "
         "display-devel-map display-map do-not-aggregate-help do-not-launch enable-recovery "
         "forward-environment "
         "get-stack-traces h help leave-session-attached merge-stderr-to-stdout no-prefix nolocal "
         "nooversubscribe "
         "noprefix output-proctable oversubscribe p parsable parseable pernode preload-binary q quiet "
         "report-bindings report-child-jobs-separately report-state-on-timeout s show-progress soft "
         "stop-in-app "
         "stop-in-init stop-on-exec tag-output timestamp-output use-hwthread-cpus v V verbose version xml"},
    });
    return table;
}

// Hydra of MPICH 4 and what Intel MPI and MVAPICH add to it.
const Table& mpich() {
    static const Table table = makeTable({
        {1, "n np", OptionRole::Ranks},
        {1, "f host hostfile hostlist hosts machine machinefile", OptionRole::Hosts},
        {1, "configfile", OptionRole::Programs},
        {2, "env genv"},
        {1,
         "arch bind-to binding bootstrap bootstrap-exec demux envlist errfile errfile-pattern file genvlist "
         "genvexcl gpu-subdevs-per-proc gpus-per-proc grr gtool iface launcher launcher-exec localhost "
         "map-by "
         "membind nameserver order-nodes outfile outfile-pattern path perhost ppn prepend-pattern rmk s soft "
         "timeout tmpdir topolib usize umask wd wdir"},
        {0,
         "check-mpi cleanup dac disable-auto-cleanup disable-hostname-propagation disable-x enable-x envall "
         "envnone genvall genvnone h help ilp64 info l nolocal pmi-port prepend-rank print-all-exitcodes "
         "print-rank-map profile q rr silent-abort skip-launch-node v verbose version"},
    });
    return table;
}

// srun of Slurm: long options, two dashes. Those whose value is optional take it only after "=".
const Table& srunLong() {
    static const Table table = makeTable({
        {1, "ntasks", OptionRole::Ranks},
        {1, "nodelist nodefile nodes exclude", OptionRole::Hosts},
        {0, "multi-prog", OptionRole::Programs},
        {1,
         "accel-bind account acctg-freq bb bbf bcast-exclude begin chdir cluster-constraint clusters comment "
         "constraint container container-id core-spec cores-per-socket cpu-bind cpu-freq cpus-per-gpu "
         "cpus-per-task deadline delay-boot dependency distribution epilog error export export-file "
         "extra-node-info gid gpu-bind gpu-freq gpus gpus-per-node gpus-per-socket gpus-per-task gres "
         "gres-flags "
         "het-group hint input job-name jobid licenses mail-type mail-user mcs-label mem mem-bind "
         "mem-per-cpu "
         "mem-per-gpu mincpus mpi msg-timeout network ntasks-per-core ntasks-per-gpu ntasks-per-node "
         "ntasks-per-socket open-mode output partition power prefer priority profile prolog qos relative "
         "reservation segment signal slurmd-debug sockets-per-node switches task-epilog task-prolog "
         "thread-spec "
         "threads threads-per-core time time-min tmp tres-bind tres-per-task uid wait wckey"},
        {0,
         "bcast compress contiguous disable-status exact exclusive external-launcher help hold immediate "
         "interactive kill-on-bad-exit label nice no-allocate no-kill overcommit overlap oversubscribe "
         "preserve-env propagate pty quiet quit-on-interrupt reboot resv-ports send-libs spread-job stepmgr "
         "test-only unbuffered usage use-min-nodes verbose version whole x11"},
    });
    return table;
}

// Letters of srun: with a value, which may follow at once or as the next word; and flags, which may stand
// together.
constexpr QLatin1StringView kSrunValueLetters("AbDMCScdmexBGiJLFwNnopqrTtW");
constexpr QLatin1StringView kSrunFlagLetters("EHhlOQsuvVXZ");
constexpr QLatin1StringView kSrunOptionalLetters("IKk");

OptionInfo srunInfo(const QString& word) {
    if (word.startsWith(QLatin1StringView("--"))) {
        const qsizetype equals = word.indexOf(u'=');
        OptionInfo info = srunLong().value(equals < 0 ? word.mid(2) : word.mid(2, equals - 2));
        if (info.values >= 0 && equals >= 0) {
            info.values = 0;
            info.attached = word.mid(equals + 1);
        }
        return info;
    }
    for (qsizetype i = 1; i < word.size(); ++i) {
        const QChar letter = word.at(i);
        if (kSrunValueLetters.contains(letter)) {
            OptionInfo info;
            info.values = i + 1 < word.size() ? 0 : 1;
            info.attached = word.mid(i + 1);
            if (letter == u'n') {
                info.role = OptionRole::Ranks;
            } else if (letter == u'w' || letter == u'N' || letter == u'F' || letter == u'x') {
                info.role = OptionRole::Hosts;
            }
            return info;
        }
        if (kSrunOptionalLetters.contains(letter)) {
            return {0, OptionRole::None, {}}; // the rest of the word, if any, is its value
        }
        if (!kSrunFlagLetters.contains(letter)) {
            return {};
        }
    }
    return {0, OptionRole::None, {}};
}

OptionInfo wordInfo(const Table& table, const QString& word) {
    const QString name = word.mid(word.startsWith(QLatin1StringView("--")) ? 2 : 1);
    if (const auto found = table.constFind(name); found != table.constEnd()) {
        return *found;
    }
    const qsizetype equals = name.indexOf(u'=');
    OptionInfo info = equals > 0 ? table.value(name.left(equals)) : OptionInfo{};
    if (info.values >= 0) {
        info.values = info.values > 1 ? info.values - 1 : 0;
        info.attached = name.mid(equals + 1);
    }
    return info;
}

} // namespace

OptionInfo optionInfo(LauncherKind kind, const QString& word) {
    if (!word.startsWith(u'-') || word.size() < 2) {
        return {};
    }
    switch (kind) {
    case LauncherKind::OpenMpi4:
        return wordInfo(openMpi4(), word);
    case LauncherKind::OpenMpi5:
        return wordInfo(openMpi5(), word);
    case LauncherKind::Mpich:
        return wordInfo(mpich(), word);
    case LauncherKind::Srun:
        return srunInfo(word);
    case LauncherKind::Unknown:
        break;
    }
    for (const Table* table : {&openMpi4(), &mpich(), &openMpi5()}) {
        if (const OptionInfo info = wordInfo(*table, word); info.values >= 0) {
            return info;
        }
    }
    return {};
}

int optionValues(LauncherKind kind, const QString& option) {
    return optionInfo(kind, option).values;
}

} // namespace stopline::agent
