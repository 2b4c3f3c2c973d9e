#include "../../../tracelib/preload/requests.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <random>
#include <vector>

using namespace stopline::preload;

namespace {

/// Handles are only compared, never followed.
MPI_Request handleOf(std::uintptr_t number) {
    return reinterpret_cast<MPI_Request>(0x1000 + number * 64);
}

struct Twin {
    std::map<MPI_Request, std::deque<std::uint32_t>> queues;
};

} // namespace

TEST(RequestTable, SharedHandleIsAQueue) {
    const auto table = std::make_unique<RequestTable>();
    const MPI_Request shared = handleOf(1);
    for (std::uint32_t serial = 1; serial <= 3; ++serial) {
        table->add(shared, serial, RequestKind::Send, false);
    }
    const MPI_Request three[] = {shared, handleOf(2), shared, shared, shared};
    std::uint32_t nodes[5];
    table->find(three, 5, nodes);
    EXPECT_EQ(table->node(nodes[0]).serial, 1U);
    EXPECT_EQ(nodes[1], RequestTable::kNone);
    EXPECT_EQ(table->node(nodes[2]).serial, 2U);
    EXPECT_EQ(table->node(nodes[3]).serial, 3U);
    EXPECT_EQ(nodes[4], RequestTable::kNone); // more often than it was made
    table->remove(nodes[2]);
    table->find(three, 5, nodes);
    EXPECT_EQ(table->node(nodes[2]).serial, 3U);
}

TEST(RequestTable, OfOneHandleTheOneThatWasMadeInTheVariableGoesFirst) {
    const auto table = std::make_unique<RequestTable>();
    const MPI_Request shared = handleOf(1);
    MPI_Request variables[4] = {shared, shared, shared, shared};
    for (std::uint32_t serial = 1; serial <= 3; ++serial) {
        table->add(shared, serial, RequestKind::Send, false, &variables[serial - 1]);
    }
    std::uint32_t nodes[3];
    table->find(&variables[2], 1, nodes, &variables[2]);
    EXPECT_EQ(table->node(nodes[0]).serial, 3U);
    // A list in another order than they were made in, and a copy of which nothing is known.
    const MPI_Request list[] = {shared, shared, shared};
    table->find(list, 3, nodes, &variables[1]);
    EXPECT_EQ(table->node(nodes[0]).serial, 2U);
    EXPECT_EQ(table->node(nodes[1]).serial, 3U);
    EXPECT_EQ(table->node(nodes[2]).serial, 1U);
    // What another thread waits for is not given.
    table->node(nodes[1]).claimed = true;
    table->find(&variables[2], 1, nodes, &variables[2]);
    EXPECT_EQ(table->node(nodes[0]).serial, 1U);
}

TEST(RequestTable, OfSeveralMadeInOneVariableTheLatestIsInIt) {
    const auto table = std::make_unique<RequestTable>();
    const MPI_Request shared = handleOf(1);
    MPI_Request variable = shared;
    for (std::uint32_t serial = 1; serial <= 3; ++serial) { // and copied from it
        table->add(shared, serial, RequestKind::Send, false, &variable);
    }
    MPI_Request other = shared;
    std::uint32_t node = 0;
    EXPECT_TRUE(table->find(&variable, 1, &node, &variable));
    EXPECT_EQ(table->node(node).serial, 3U);
    EXPECT_TRUE(table->find(&other, 1, &node, &other));
    EXPECT_EQ(table->node(node).serial, 1U);
}

TEST(RequestTable, TellsWhetherAHandleIsShared) {
    const auto table = std::make_unique<RequestTable>();
    const MPI_Request shared = handleOf(1);
    const MPI_Request own = handleOf(2);
    const MPI_Request list[] = {own, handleOf(3), shared};
    std::uint32_t nodes[3];
    table->add(shared, 1, RequestKind::Send, false);
    table->add(own, 2, RequestKind::Send, false);
    EXPECT_FALSE(table->find(list, 3, nodes));
    table->add(shared, 3, RequestKind::Send, false);
    EXPECT_TRUE(table->find(list, 3, nodes));
    EXPECT_FALSE(table->find(list, 2, nodes)); // the shared one is not among them
    // Also where a thread waits for the other one: it may have been meant.
    table->node(nodes[0]).claimed = false;
    table->find(&shared, 1, nodes);
    table->node(nodes[0]).claimed = true;
    EXPECT_TRUE(table->find(&shared, 1, nodes));
    EXPECT_EQ(table->node(nodes[0]).serial, 3U);
    table->remove(nodes[0]);
    EXPECT_FALSE(table->find(&shared, 1, nodes));
}

TEST(RequestTable, RenamedIsFoundByItsNewHandleOnly) {
    const auto table = std::make_unique<RequestTable>();
    table->add(handleOf(1), 1, RequestKind::Send, true);
    table->add(handleOf(1), 2, RequestKind::Send, false);
    table->add(handleOf(2), 3, RequestKind::Send, false);
    const MPI_Request handles[] = {handleOf(1), handleOf(2), handleOf(2)};
    std::uint32_t nodes[3];
    table->find(handles, 1, nodes);
    ASSERT_EQ(table->node(nodes[0]).serial, 1U);
    table->rename(nodes[0], handleOf(2));
    table->find(handles, 3, nodes);
    EXPECT_EQ(table->node(nodes[0]).serial, 2U);
    EXPECT_EQ(table->node(nodes[1]).serial, 3U);
    EXPECT_EQ(table->node(nodes[2]).serial, 1U); // the youngest of its new handle
    EXPECT_TRUE(table->node(nodes[2]).persistent);
    table->remove(nodes[0]);
    table->rename(nodes[2], handleOf(1));
    table->find(handles, 3, nodes);
    EXPECT_EQ(table->node(nodes[0]).serial, 1U);
    EXPECT_EQ(table->node(nodes[1]).serial, 3U);
    EXPECT_EQ(nodes[2], RequestTable::kNone);
}

TEST(RequestTable, EqualsAMapOfQueues) {
    const auto table = std::make_unique<RequestTable>();
    Twin twin;
    std::mt19937_64 random(1);
    std::uint32_t serial = 0;
    for (int step = 0; step < 200'000; ++step) {
        // Handles grow for a while, then are used up, over and over.
        const bool grows = step / 20'000 % 2 == 0;
        if (random() % 3 < (grows ? 2U : 1U)) {
            const MPI_Request handle = handleOf(random() % 6000);
            table->add(handle, ++serial, RequestKind::Recv, false);
            twin.queues[handle].push_back(serial);
            continue;
        }
        MPI_Request handles[6];
        std::uint32_t nodes[6];
        for (MPI_Request& handle : handles) {
            handle = handleOf(random() % 6000);
        }
        handles[5] = handles[0];
        table->find(handles, 6, nodes);
        std::map<MPI_Request, std::size_t> seen;
        for (int i = 0; i < 6; ++i) {
            const std::deque<std::uint32_t>& queue = twin.queues[handles[i]];
            const std::size_t at = seen[handles[i]]++;
            ASSERT_EQ(nodes[i] != RequestTable::kNone, at < queue.size());
            if (nodes[i] != RequestTable::kNone) {
                ASSERT_EQ(table->node(nodes[i]).serial, queue[at]);
            }
        }
        const int gone = static_cast<int>(random() % 6);
        if (nodes[gone] != RequestTable::kNone) {
            std::deque<std::uint32_t>& queue = twin.queues[handles[gone]];
            const std::uint32_t its = table->node(nodes[gone]).serial;
            std::erase(queue, its);
            if (random() % 4 == 0) {
                const MPI_Request other = handleOf(random() % 6000);
                twin.queues[other].push_back(its);
                table->rename(nodes[gone], other);
            } else {
                table->remove(nodes[gone]);
            }
        }
    }
    EXPECT_GT(serial, 50'000U);
}

TEST(RequestTable, ManyOfOneHandleStayQuick) {
    const auto table = std::make_unique<RequestTable>();
    constexpr std::uint32_t kMany = 200'000;
    std::vector<MPI_Request> handles(kMany, handleOf(3));
    std::vector<std::uint32_t> nodes(kMany);
    for (std::uint32_t i = 0; i < kMany; ++i) {
        table->add(handles[i], i + 1, RequestKind::Send, false);
    }
    table->find(handles.data(), static_cast<int>(kMany), nodes.data());
    for (std::uint32_t i = 0; i < kMany; ++i) {
        ASSERT_EQ(table->node(nodes[i]).serial, i + 1);
        table->remove(nodes[i]);
    }
    table->find(handles.data(), 1, nodes.data());
    EXPECT_EQ(nodes[0], RequestTable::kNone);
}

TEST(MessageTable, TakesOnce) {
    const auto table = std::make_unique<MessageTable>();
    for (std::uintptr_t i = 1; i <= 500; ++i) {
        table->add(
            {reinterpret_cast<MPI_Message>(i), static_cast<std::uint32_t>(i), stopline::kCommWorld, 0, 0});
    }
    MatchedMessage message;
    ASSERT_TRUE(table->take(reinterpret_cast<MPI_Message>(250), message));
    EXPECT_EQ(message.serial, 250U);
    EXPECT_FALSE(table->take(reinterpret_cast<MPI_Message>(250), message));
}
