// Values of the library of C++, before and after a change.
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

struct Cell {
    std::string name;
    std::vector<double> values;
    int plain;
};

static volatile int go = 0;

static int look(int round) {
    std::printf("round %d\n", round); // line: look
    return round;
}

int main() {
    alarm(300);
    if (write(1, "ready\n", 6) != 6) {
        return 1;
    }
    while (!go) {
        usleep(1000);
    }
    std::vector<int> numbers{1, 2, 3};
    std::vector<int> large(1000, 7);
    std::vector<int> none;
    std::string text = "hello";
    std::map<std::string, int> ages{{"ann", 41}, {"bob", 7}};
    std::map<std::pair<int, int>, double> sparse{{{1, 2}, 0.5}};
    std::vector<Cell> cells{{"one", {1.5, 2.5}, 3}, {"two", {}, 4}};
    std::unique_ptr<Cell> pointer(new Cell{"three", {9}, 5});
    std::optional<int> maybe = 4;
    look(1);
    numbers[1] = 20;
    large.push_back(8);
    none.push_back(5);
    text += " again";
    ages["bob"] = 8;
    ages["abe"] = 1;
    cells[0].values.push_back(3.5);
    look(2);
    return static_cast<int>(numbers.size() + large.size() + ages.size() + sparse.size() + *maybe) +
           pointer->plain + cells[0].plain;
}
