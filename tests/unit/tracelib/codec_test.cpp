#include "../../../tracelib/codec.h"
#include "../../../tracelib/decode.h"
#include "../../../tracelib/reader.h"

#include <gtest/gtest.h>

#include <random>

using namespace stopline;
using namespace stopline::trace;

namespace {

EventDetails randomDetails(std::mt19937_64& random) {
    const auto chance = [&random](int n) { return random() % static_cast<unsigned>(n) == 0; };
    const auto number = [&random] { return random() >> (random() % 64); };
    const auto small = [&number] { return static_cast<std::int32_t>(number()); };
    const auto ref = [&] {
        return RequestRef{chance(5)   ? RequestRef::kNull
                          : chance(9) ? RequestRef::kUnknown
                                      : static_cast<std::uint32_t>(random() % 1000)};
    };
    EventDetails d;
    d.kind = chance(2) ? EventKind::Begin : EventKind::End;
    d.function = static_cast<FunctionId>(random() % static_cast<unsigned>(FunctionId::Count));
    d.thread = chance(2) ? 0 : static_cast<std::uint16_t>(random());
    d.site = CodeAddress{chance(2) ? 0 : number()};
    d.comm = chance(2) ? kNoComm : CommIndex{static_cast<std::uint32_t>(random() % 100)};
    d.sendPeer = chance(2) ? kNoPeer : small();
    d.sendTag = chance(2) ? kNoTag : small();
    d.sendBytes = chance(2) ? 0 : number();
    d.recvPeer = chance(2) ? kNoPeer : small();
    d.recvTag = chance(2) ? kNoTag : small();
    d.recvBytes = chance(2) ? 0 : number();
    d.root = chance(2) ? kNoPeer : small();
    const auto error = [&] {
        return static_cast<ErrorClass>(random() % (static_cast<unsigned>(ErrorClass::Unlisted) + 1));
    };
    d.error = chance(2) ? ErrorClass::Success : error();
    d.errorCode = chance(2) ? 0 : small();
    d.mode = chance(2) ? 0 : small();
    d.flag = chance(2);
    d.truncated = chance(8);
    d.shared = chance(4);
    if (chance(2)) {
        d.status = {small(), small(), number(), chance(2)};
    }
    d.newComm = chance(2) ? kNoComm : CommIndex{static_cast<std::uint32_t>(random() % 100)};
    d.message = chance(2) ? RequestRef{} : ref();
    for (std::uint64_t n = chance(2) ? 0 : random() % 20; n > 0; --n) {
        d.requests.push_back(ref());
    }
    for (std::uint64_t n = chance(2) ? 0 : random() % 20; n > 0; --n) {
        d.completions.push_back(
            {ref(), static_cast<std::uint32_t>(random()), {small(), small(), number(), chance(2)},
             chance(3) ? error() : ErrorClass::Success, chance(3) ? small() : 0});
    }
    for (std::uint64_t n = chance(3) ? random() % 20 : 0; n > 0; --n) {
        d.peers.push_back(small());
    }
    return d;
}

} // namespace

TEST(Functions, NamesAndClasses) {
    EXPECT_EQ(functionName(FunctionId::Send), "MPI_Send");
    EXPECT_EQ(functionName(FunctionId::Comm_disconnect), "MPI_Comm_disconnect");
    EXPECT_EQ(functionName(FunctionId::Count), "MPI_?");
    EXPECT_EQ(functionName(static_cast<FunctionId>(65535)), "MPI_?");
    EXPECT_EQ(functionClass(FunctionId::Request_get_status), CallClass::Test);
    EXPECT_EQ(functionClass(FunctionId::Imrecv), CallClass::Imrecv);
    EXPECT_EQ(functionClass(static_cast<FunctionId>(65535)), CallClass::Collective);
}

TEST(Codec, DetailsRoundTrip) {
    std::mt19937_64 random(1);
    for (int i = 0; i < 20000; ++i) {
        const EventDetails d = randomDetails(random);
        std::vector<std::byte> bytes = encodeDetails(d);
        ASSERT_FALSE(bytes.empty());
        const std::size_t size = bytes.size();
        bytes.push_back(std::byte{0xff}); // what follows is not read
        EventDetails back;
        std::size_t used = 0;
        ASSERT_TRUE(decodeDetails(bytes, back, used));
        EXPECT_EQ(used, size);
        EXPECT_EQ(back, d);
    }
}

TEST(Codec, DetailsCutOffAreRefused) {
    std::mt19937_64 random(2);
    for (int i = 0; i < 500; ++i) {
        const std::vector<std::byte> bytes = encodeDetails(randomDetails(random));
        for (std::size_t size = 0; size < bytes.size(); ++size) {
            EventDetails back;
            std::size_t used = 1;
            EXPECT_FALSE(decodeDetails(std::span(bytes.data(), size), back, used));
            EXPECT_EQ(used, 0U);
        }
    }
}

TEST(Codec, AnyBitFlippedOrAnyBytesDoNoHarm) {
    std::mt19937_64 random(3);
    for (int i = 0; i < 60; ++i) {
        std::vector<std::byte> bytes = encodeDetails(randomDetails(random));
        for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
            bytes[bit / 8] ^= std::byte(1U << (bit % 8));
            EventDetails back;
            std::size_t used = 0;
            if (decodeDetails(bytes, back, used)) {
                EXPECT_LE(used, bytes.size());
                EXPECT_LE(back.requests.size(), kMaxListed);
            }
            bytes[bit / 8] ^= std::byte(1U << (bit % 8));
        }
    }
    for (int i = 0; i < 100000; ++i) {
        std::vector<std::byte> bytes(random() % 40);
        for (std::byte& b : bytes) {
            b = static_cast<std::byte>(random());
        }
        EventDetails back;
        std::size_t used = 0;
        (void)decodeDetails(bytes, back, used);
        EXPECT_LE(used, bytes.size());
        ByteReader in(bytes);
        CommInfo comm;
        (void)readComm(in, comm);
    }
}

TEST(Codec, LongWaitallOfAPatternIsShort) {
    EventDetails d;
    d.kind = EventKind::End;
    d.function = FunctionId::Waitall;
    for (std::uint32_t i = 0; i < 100000; ++i) {
        d.requests.push_back({99999 - i});
        d.completions.push_back({{99999 - i}, i, {3, 7, 8, false}});
    }
    const std::vector<std::byte> bytes = encodeDetails(d);
    EXPECT_LT(bytes.size(), 64U);
    EventDetails back;
    std::size_t used = 0;
    ASSERT_TRUE(decodeDetails(bytes, back, used));
    EXPECT_EQ(back, d);
}

TEST(Codec, ListsBeyondTheLimitAreRefused) {
    EventDetails d;
    d.requests.assign(kMaxListed + 1, RequestRef{0});
    const std::vector<std::byte> bytes = encodeDetails(d);
    EventDetails back;
    std::size_t used = 0;
    EXPECT_FALSE(decodeDetails(bytes, back, used));
}

TEST(Codec, CommsRoundTrip) {
    std::mt19937_64 random(4);
    for (int i = 0; i < 2000; ++i) {
        CommInfo c;
        c.id = random();
        c.kind = static_cast<CommKind>(random() % (static_cast<unsigned>(CommKind::Other) + 1));
        c.parent = random() % 2 == 0 ? kNoComm : CommIndex{static_cast<std::uint32_t>(random() % 50)};
        c.ordinal = static_cast<std::uint32_t>(random());
        for (std::uint64_t n = random() % 30; n > 0; --n) {
            c.members.push_back(static_cast<std::int32_t>(random() % 5000) - 1);
        }
        for (std::uint64_t n = random() % 3; n > 0; --n) {
            c.remote.push_back(static_cast<std::int32_t>(random() % 5000));
        }
        CommView view{c.id,
                      c.kind,
                      c.parent,
                      c.ordinal,
                      c.members.data(),
                      static_cast<std::uint32_t>(c.members.size()),
                      c.remote.data(),
                      static_cast<std::uint32_t>(c.remote.size())};
        std::vector<std::byte> bytes(1024);
        const std::size_t size = encodeComm(view, bytes.data(), bytes.size());
        ASSERT_GT(size, 0U);
        ByteReader in(std::span<const std::byte>(bytes).first(size));
        CommInfo back;
        ASSERT_TRUE(readComm(in, back));
        EXPECT_TRUE(in.atEnd());
        EXPECT_EQ(back, c);
        EXPECT_EQ(encodeComm(view, bytes.data(), size - 1), 0U);
    }
}

TEST(TimeCodes, ValuesGrowAndComeBack) {
    EXPECT_EQ(encodeDelta(0), 0);
    EXPECT_EQ(encodeDelta(-5), 0);
    EXPECT_EQ(decodeDelta(0), 0);
    TimeNs last = 0;
    for (int code = 1; code <= 252; ++code) {
        const TimeNs value = decodeDelta(static_cast<std::uint8_t>(code));
        EXPECT_GE(value, last);
        EXPECT_EQ(decodeDelta(encodeDelta(value)), value) << code;
        last = value;
    }
    EXPECT_NE(encodeDelta(std::numeric_limits<TimeNs>::max()), kExactTime);
}

TEST(TimeCodes, NearestWithinAnEighth) {
    std::mt19937_64 random(5);
    for (int i = 0; i < 200000; ++i) {
        const auto delta = static_cast<TimeNs>(random() >> (2 + random() % 61));
        const TimeNs value = decodeDelta(encodeDelta(delta));
        const TimeNs error = value > delta ? value - delta : delta - value;
        EXPECT_LE(error, delta / 8 + 1) << delta;
    }
}
