// Where programs get random bytes from, each noted and given back: the functions of libc, std::random_device, and the
// devices, read through descriptors and through streams.
#include "values_impl.h"

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace stopline::preload {

namespace {

template <typename Function>
struct Next {
    const char* name;
    Function* function;
    void find() { function = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name)); }
};
Next<ssize_t(void*, size_t, unsigned)> nextRandom{"getrandom", nullptr};
Next<int(void*, size_t)> nextEntropy{"getentropy", nullptr};
Next<unsigned()> nextArc4{"arc4random", nullptr};
Next<void(void*, size_t)> nextArc4Buffer{"arc4random_buf", nullptr};
Next<unsigned(unsigned)> nextArc4Uniform{"arc4random_uniform", nullptr};
Next<int(const char*, int, ...)> nextOpen{"open", nullptr};
Next<int(const char*, int, ...)> nextOpen64{"open64", nullptr};
Next<int(int, const char*, int, ...)> nextOpenAt{"openat", nullptr};
Next<int(int, const char*, int, ...)> nextOpenAt64{"openat64", nullptr};
Next<ssize_t(int, void*, size_t)> nextRead{"read", nullptr};
Next<ssize_t(int, void*, size_t, size_t)> nextReadChecked{"__read_chk", nullptr};
Next<int(int)> nextClose{"close", nullptr};
Next<FILE*(const char*, const char*)> nextFopen{"fopen", nullptr};
Next<FILE*(const char*, const char*)> nextFopen64{"fopen64", nullptr};
Next<FILE*(int, const char*)> nextFdopen{"fdopen", nullptr};
Next<int(FILE*)> nextFileno{"fileno", nullptr};

/// Descriptors of the random devices that the program has opened, and the streams that read them. One that does not fit is
/// left alone: what it reads is true each time. Entries are made by the main thread alone; any thread may close one.
struct Device {
    int fd; ///< 0: none (nobody opens a device as that)
    FILE* stream;
};
constexpr int kDevices = 32;
Device devices[kDevices];
int deviceCount; ///< used so far

Device* deviceOf(int fd) {
    for (int i = 0; i < deviceCount; ++i) {
        if (devices[i].fd == fd) {
            return &devices[i];
        }
    }
    return nullptr;
}

bool isOpenDevice(int fd) {
    return deviceCount != 0 && fd > 0 && deviceOf(fd) != nullptr;
}

/// A free entry; null: there is none.
Device* freeDevice() {
    Device* free = deviceOf(0);
    return free != nullptr || deviceCount == kDevices ? free : &devices[deviceCount++];
}

bool isDevice(const char* path) {
    return path != nullptr && path[0] == '/' && path[1] == 'd' &&
           (std::strcmp(path, "/dev/urandom") == 0 || std::strcmp(path, "/dev/random") == 0);
}

/// Remembers a descriptor that the program has opened, if it is one of a device.
int opened(int fd, const char* path, const void* caller) {
    if (fd > 0 && isDevice(path) && valuesConcern(caller)) {
        if (Device* device = freeDevice(); device != nullptr) {
            device->stream = nullptr;
            device->fd = fd;
        }
    }
    return fd;
}

ssize_t trueRead(int fd, void* buffer, size_t length) {
    return nextRead.function != nullptr ? nextRead.function(fd, buffer, length) : static_cast<ssize_t>(syscall(SYS_read, fd, buffer, length));
}

ssize_t readDevice(int fd, void* buffer, size_t length) {
    // A call that reads so much would end the log; the devices may answer with less than what they are asked for.
    const size_t some = length > static_cast<size_t>(trace::kMaxRandomBytes) ? static_cast<size_t>(trace::kMaxRandomBytes) : length;
    return valuesConcernHere() ? randomBytes(buffer, some, [fd](void* to, size_t bytes) { return trueRead(fd, to, bytes); })
                               : trueRead(fd, buffer, length);
}

int forget(int fd) {
    if (Device* device = fd > 0 ? deviceOf(fd) : nullptr; device != nullptr) {
        device->stream = nullptr;
        device->fd = 0;
    }
    return nextClose.function != nullptr ? nextClose.function(fd) : static_cast<int>(syscall(SYS_close, fd));
}

int fdOf(void* cookie) {
    return static_cast<int>(reinterpret_cast<std::intptr_t>(cookie));
}

/// A stream of its own for a device: those of libc read it past any function that can be taken the place of.
FILE* streamOf(int fd, const char* mode) {
    const cookie_io_functions_t functions{
        [](void* cookie, char* buffer, size_t length) { return readDevice(fdOf(cookie), buffer, length); },
        [](void* cookie, const char* buffer, size_t length) { return write(fdOf(cookie), buffer, length); },
        [](void*, off64_t*, int) { return 0; }, // as the devices answer
        [](void* cookie) { return forget(fdOf(cookie)); }};
    FILE* stream = fopencookie(reinterpret_cast<void*>(static_cast<std::intptr_t>(fd)), mode, functions);
    if (Device* device = deviceOf(fd); device != nullptr && stream != nullptr) {
        device->stream = stream;
    }
    return stream;
}

FILE* openedStream(FILE* (*next)(const char*, const char*), const char* path, const char* mode, const void* caller) {
    if (next == nullptr) {
        errno = ENOSYS;
        return nullptr;
    }
    if (!isDevice(path) || mode == nullptr || mode[0] != 'r' || !valuesConcern(caller)) {
        return next(path, mode);
    }
    const int fd = static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, std::strchr(mode, '+') != nullptr ? O_RDWR : O_RDONLY));
    if (fd < 0) {
        return nullptr;
    }
    if (opened(fd, path, caller); deviceOf(fd) == nullptr) {
        syscall(SYS_close, fd);
        return next(path, mode);
    }
    FILE* stream = streamOf(fd, mode);
    if (stream == nullptr) {
        forget(fd);
    }
    return stream;
}

} // namespace

void findRandom() {
    nextRandom.find();
    nextEntropy.find();
    nextArc4.find();
    nextArc4Buffer.find();
    nextArc4Uniform.find();
    nextOpen.find();
    nextOpen64.find();
    nextOpenAt.find();
    nextOpenAt64.find();
    nextRead.find();
    nextReadChecked.find();
    nextClose.find();
    nextFopen.find();
    nextFopen64.find();
    nextFdopen.find();
    nextFileno.find();
}

} // namespace stopline::preload

using namespace stopline::preload;
using stopline::trace::ValueKind;

STOPLINE_EXPORT ssize_t getrandom(void* buffer, size_t length, unsigned flags) {
    const auto ask = [flags](void* to, size_t bytes) {
        return nextRandom.function != nullptr ? nextRandom.function(to, bytes, flags)
                                              : static_cast<ssize_t>(syscall(SYS_getrandom, to, bytes, flags));
    };
    return valuesConcern(__builtin_return_address(0)) ? randomBytes(buffer, length, ask) : ask(buffer, length);
}

STOPLINE_EXPORT int getentropy(void* buffer, size_t length) {
    const auto ask = [](void* to, size_t bytes) -> ssize_t {
        if (nextEntropy.function == nullptr) {
            errno = ENOSYS;
            return -1;
        }
        return nextEntropy.function(to, bytes) == 0 ? static_cast<ssize_t>(bytes) : -1;
    };
    const bool noted = valuesConcern(__builtin_return_address(0));
    return (noted ? randomBytes(buffer, length, ask) : ask(buffer, length)) < 0 ? -1 : 0;
}

STOPLINE_EXPORT void arc4random_buf(void* buffer, size_t length) noexcept {
    const auto ask = [](void* to, size_t bytes) {
        if (nextArc4Buffer.function != nullptr) {
            nextArc4Buffer.function(to, bytes);
        }
        return static_cast<ssize_t>(bytes);
    };
    if (valuesConcern(__builtin_return_address(0))) {
        randomBytes(buffer, length, ask);
    } else {
        ask(buffer, length);
    }
}

namespace stopline::preload {
namespace {

/// A number that `ask` gives, or that was given here in the recording. `caller`: to where the function returns.
template <typename Ask>
unsigned randomNumber(const void* caller, Ask ask) {
    const auto bytesOf = [&ask](void* to, size_t bytes) {
        const unsigned value = ask();
        std::memcpy(to, &value, bytes);
        return static_cast<ssize_t>(bytes);
    };
    unsigned value = 0;
    if (valuesConcern(caller)) {
        randomBytes(&value, sizeof value, bytesOf);
    } else {
        bytesOf(&value, sizeof value);
    }
    return value;
}

} // namespace
} // namespace stopline::preload

STOPLINE_EXPORT unsigned arc4random() noexcept {
    return randomNumber(__builtin_return_address(0), [] { return nextArc4.function != nullptr ? nextArc4.function() : 0U; });
}

STOPLINE_EXPORT unsigned arc4random_uniform(unsigned bound) noexcept {
    return randomNumber(__builtin_return_address(0),
                        [bound] { return nextArc4Uniform.function != nullptr ? nextArc4Uniform.function(bound) : 0U; });
}

/// std::random_device::_M_getval(): where the processor has an instruction for it, no function is called that could be
/// taken the place of.
STOPLINE_EXPORT unsigned _ZNSt13random_device9_M_getvalEv(void* device) {
    using Getval = unsigned (*)(void*);
    static Getval next = nullptr;
    if (next == nullptr) {
        constexpr const char* kName = "_ZNSt13random_device9_M_getvalEv";
        next = reinterpret_cast<Getval>(dlsym(RTLD_NEXT, kName));
        if (next == nullptr) { // loaded for a plug-in alone
            void* library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);
            next = library != nullptr ? reinterpret_cast<Getval>(dlsym(library, kName)) : nullptr;
        }
        if (next == nullptr) {
            return 0;
        }
    }
    return randomNumber(__builtin_return_address(0), [device] { return next(device); });
}

// --- Devices ---

namespace {
/// The third argument, if there is one.
#define STOPLINE_MODE(flags)                                                                                 \
    mode_t mode = 0;                                                                                         \
    if (((flags) & O_CREAT) != 0 || ((flags) & O_TMPFILE) == O_TMPFILE) {                                    \
        std::va_list list;                                                                                   \
        va_start(list, flags);                                                                               \
        mode = va_arg(list, mode_t);                                                                         \
        va_end(list);                                                                                        \
    }
int trueOpen(int (*next)(const char*, int, ...), const char* path, int flags, mode_t mode) {
    return next != nullptr ? next(path, flags, mode) : static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}
int trueOpenAt(int (*next)(int, const char*, int, ...), int directory, const char* path, int flags, mode_t mode) {
    return next != nullptr ? next(directory, path, flags, mode) : static_cast<int>(syscall(SYS_openat, directory, path, flags, mode));
}
} // namespace

STOPLINE_EXPORT int open(const char* path, int flags, ...) {
    STOPLINE_MODE(flags)
    return opened(trueOpen(nextOpen.function, path, flags, mode), path, __builtin_return_address(0));
}
STOPLINE_EXPORT int open64(const char* path, int flags, ...) {
    STOPLINE_MODE(flags)
    return opened(trueOpen(nextOpen64.function, path, flags, mode), path, __builtin_return_address(0));
}
STOPLINE_EXPORT int openat(int directory, const char* path, int flags, ...) {
    STOPLINE_MODE(flags)
    return opened(trueOpenAt(nextOpenAt.function, directory, path, flags, mode), path, __builtin_return_address(0));
}
STOPLINE_EXPORT int openat64(int directory, const char* path, int flags, ...) {
    STOPLINE_MODE(flags)
    return opened(trueOpenAt(nextOpenAt64.function, directory, path, flags, mode), path, __builtin_return_address(0));
}
// As programs call them that are compiled with _FORTIFY_SOURCE.
STOPLINE_EXPORT int __open_2(const char* path, int flags) {
    return opened(trueOpen(nextOpen.function, path, flags, 0), path, __builtin_return_address(0));
}
STOPLINE_EXPORT int __open64_2(const char* path, int flags) {
    return opened(trueOpen(nextOpen64.function, path, flags, 0), path, __builtin_return_address(0));
}

STOPLINE_EXPORT ssize_t read(int fd, void* buffer, size_t length) {
    return isOpenDevice(fd) ? readDevice(fd, buffer, length) : trueRead(fd, buffer, length);
}
STOPLINE_EXPORT ssize_t __read_chk(int fd, void* buffer, size_t length, size_t size) {
    if (nextReadChecked.function != nullptr && (length > size || !isOpenDevice(fd))) {
        return nextReadChecked.function(fd, buffer, length, size); // which ends the program where it must
    }
    return isOpenDevice(fd) ? readDevice(fd, buffer, length) : trueRead(fd, buffer, length);
}

STOPLINE_EXPORT int close(int fd) {
    return forget(fd);
}

STOPLINE_EXPORT FILE* fopen(const char* path, const char* mode) {
    return openedStream(nextFopen.function, path, mode, __builtin_return_address(0));
}
STOPLINE_EXPORT FILE* fopen64(const char* path, const char* mode) {
    return openedStream(nextFopen64.function, path, mode, __builtin_return_address(0));
}
STOPLINE_EXPORT FILE* fdopen(int fd, const char* mode) noexcept {
    if (isOpenDevice(fd)) {
        return streamOf(fd, mode);
    }
    if (nextFdopen.function == nullptr) {
        errno = ENOSYS;
        return nullptr;
    }
    return nextFdopen.function(fd, mode);
}
STOPLINE_EXPORT int fileno(FILE* stream) noexcept {
    for (int i = 0; i < deviceCount; ++i) {
        if (devices[i].fd != 0 && devices[i].stream == stream) {
            return devices[i].fd;
        }
    }
    return nextFileno.function != nullptr ? nextFileno.function(stream) : -1;
}

STOPLINE_EXPORT pid_t getpid() noexcept {
    const auto now = [] { return static_cast<std::int64_t>(syscall(SYS_getpid)); };
    return static_cast<pid_t>(pidsConcern(__builtin_return_address(0)) ? valueOf(ValueKind::Pid, now) : now());
}
