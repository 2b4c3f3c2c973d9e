// Names as C++ makes them.
#include <map>
#include <string>
#include <unistd.h>
#include <vector>

volatile int go = 0;

namespace shapes {

template <typename T>
struct Box {
    T value;
    T twice(int times) const {
        T result = value;
        for (int i = 1; i < times; ++i) {
            result = result + value;
        }
        return result; // line: box
    }
};

} // namespace shapes

int main() {
    alarm(300);
    const shapes::Box<std::string> box{"ab"};
    std::map<int, std::vector<double>> table{{1, {2.5}}};
    if (write(1, "ready\n", 6) != 6) {
        return 1;
    }
    while (!go) {
        usleep(1000);
    }
    return static_cast<int>(box.twice(2).size() + table.size());
}
