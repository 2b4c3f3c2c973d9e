#include "launch_plan.h"

namespace stopline::replay {

LaunchPlan planLaunch(const LaunchSpec& spec, const Installation& installation) {
    LaunchPlan plan;
    plan.program = spec.launcher;
    plan.arguments << QStringLiteral("-n") << QString::number(spec.ranks) << spec.launcherArguments << installation.agent
                   << spec.program << spec.arguments;
    return plan;
}

std::pair<QString, QString> explainLauncherFailure(const QString& errors, int exitCode) {
    return {QStringLiteral("The launcher ended with code %1: %2").arg(exitCode).arg(errors.trimmed()), {}};
}

} // namespace stopline::replay
