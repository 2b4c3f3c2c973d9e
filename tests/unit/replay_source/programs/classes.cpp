#include "mark.h"

#include <string>
#include <vector>

namespace outer {

namespace {
struct Hidden {
    int value = 0;
    void touch() { mark(__LINE__, "outer::(anonymous namespace)::Hidden::touch"); }
};
} // namespace

template <typename T>
T twice(const T& value)
{
    mark(__LINE__, "outer::twice<double>");
    return value + value;
}

class Solver {
  public:
    explicit Solver(int count) { mark(__LINE__, "outer::Solver::Solver"); m_cells.resize(count); }
    ~Solver() { mark(__LINE__, "outer::Solver::~Solver"); }
    virtual void run(const std::vector<std::string>& names) const
    {
        mark(__LINE__, "outer::Solver::run");
        if (names.empty()) {
            mark(__LINE__, "outer::Solver::run");
        }
    }
    double operator()(int index) const
    {
        mark(__LINE__, "outer::Solver::operator()");
        return m_cells[static_cast<std::size_t>(index)];
    }
    bool operator<(const Solver& other) const
    {
        mark(__LINE__, "outer::Solver::operator<");
        return m_cells.size() < other.m_cells.size();
    }
    operator bool() const
    {
        mark(__LINE__, "outer::Solver::operator bool");
        return true;
    }

  private:
    std::vector<double> m_cells;
};

} // namespace outer

static void fileLocal()
{
    mark(__LINE__, "fileLocal");
}

int main()
{
    outer::Hidden hidden;
    hidden.touch();
    outer::twice(2.0);
    {
        outer::Solver solver(3);
        solver.run({});
        solver(1);
        const bool less = solver < solver;
        hidden.value = less ? 1 : 0;
        if (solver) {
            fileLocal();
        }
    }
    const auto lambda = [] { mark(__LINE__, "main::{lambda()#1}::operator()"); };
    lambda();
    mark(__LINE__, "main");
    wait_for_test();
    return hidden.value;
}
