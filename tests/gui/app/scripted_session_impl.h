// Inside of a scripted session, for the files that make it up.
#pragma once

#include "scripted_session.h"

namespace stopline::replay {

struct Session::Impl : Scripted {};

} // namespace stopline::replay
