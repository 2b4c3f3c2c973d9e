// The program's own icons, drawn in the colours of the palette in use.
#pragma once

#include <QIcon>
#include <QString>

namespace stopline::app {

/// Makes the files of the program's resources (":/README.md") readable; icons do so themselves.
void registerResources();
/// Icon of resources/icons/<name>.svg. Lines follow the text colour and the accents the theme, also when it
/// changes while the program runs. An unknown name gives a null icon.
[[nodiscard]] QIcon icon(const QString& name);
/// The icon of the program itself.
[[nodiscard]] QIcon programIcon();

} // namespace stopline::app
