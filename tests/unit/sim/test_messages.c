#include "sim/messages.h"
#include "unit/unit.h"

static sim_messages m;

static const sim_message_key k1 = {.tag = 1, .src = 0, .dst = 1, .size = 64};

static uint32_t post(const sim_message_key *key, bool send, uint32_t subject)
{
    uint32_t id = sim_messages_post(&m, key, send, (sim_call){SIM_CALL_NODE, 0, subject});

    assert_int_not_equal(id, DSE_NONE);
    return id;
}

CLAIM(a_send_meets_the_receive_posted_before_it)
{
    uint32_t id;

    sim_messages_init(&m);
    id = post(&k1, false, 20);
    assert_true(m.message[id].received);
    assert_int_equal(post(&k1, true, 10), id);
    assert_int_equal(m.message[id].on_sent.subject, 10);
    assert_int_equal(m.message[id].on_received.subject, 20);
    sim_messages_drop(&m, id);
    assert_int_equal(m.by_key.n_used, m.n_idle);
    assert_u64(m.n_posted, 1);
    sim_messages_free(&m);
}

CLAIM(a_receive_meets_the_send_posted_before_it)
{
    uint32_t id;

    sim_messages_init(&m);
    id = post(&k1, true, 10);
    assert_false(m.message[id].received);
    assert_int_equal(post(&k1, false, 20), id);
    assert_int_equal(m.message[id].on_sent.subject, 10);
    assert_int_equal(m.message[id].on_received.subject, 20);
    sim_messages_drop(&m, id);
    assert_int_equal(m.by_key.n_used, m.n_idle);
    sim_messages_free(&m);
}

CLAIM(the_nth_send_meets_the_nth_receive)
{
    uint32_t id[6];

    sim_messages_init(&m);
    for (uint32_t i = 0; i < 3; i++) /* three sends ahead */
        id[i] = post(&k1, true, i);
    for (uint32_t i = 0; i < 5; i++) { /* then five receives: two ahead of their sends */
        uint32_t r = post(&k1, false, 100 + i);

        if (i < 3)
            assert_int_equal(r, id[i]);
        else
            id[i] = r;
    }
    for (uint32_t i = 3; i < 5; i++)
        assert_int_equal(post(&k1, true, i), id[i]);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(m.message[id[i]].on_sent.subject, i);
        assert_int_equal(m.message[id[i]].on_received.subject, 100 + i);
    }
    sim_messages_free(&m);
}

CLAIM(messages_that_differ_in_anything_do_not_meet)
{
    static const sim_message_key others[] = {{2, 0, 1, 64}, {1, 1, 0, 64}, {1, 2, 1, 64},
                                             {1, 0, 2, 64}, {1, 0, 1, 65}, {-1, 0, 1, 64}};
    uint32_t id;

    sim_messages_init(&m);
    id = post(&k1, true, 0);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_int_not_equal(post(&others[i], false, 0), id);
    assert_int_equal(m.by_key.n_used, 7);
    assert_int_equal(post(&k1, false, 0), id);
    sim_messages_free(&m);
}

CLAIM(a_channel_is_idle_when_all_have_met_and_not_before)
{
    uint32_t a, b;

    sim_messages_init(&m);
    a = post(&k1, true, 0);
    post(&k1, false, 0);
    b = post(&k1, true, 1);
    sim_messages_drop(&m, a);
    assert_int_equal(m.n_idle, 0); /* b is under way */
    assert_int_equal(post(&k1, false, 1), b);
    sim_messages_drop(&m, b);
    assert_int_equal(m.by_key.n_used, m.n_idle);
    sim_messages_free(&m);
}

CLAIM(messages_may_be_dropped_in_any_order)
{
    uint32_t id[3];

    sim_messages_init(&m);
    for (uint32_t i = 0; i < 3; i++) {
        id[i] = post(&k1, true, i);
        post(&k1, false, i);
    }
    sim_messages_drop(&m, id[1]);
    sim_messages_drop(&m, id[2]);
    id[1] = post(&k1, true, 3); /* goes behind id[0] */
    assert_int_equal(post(&k1, false, 3), id[1]);
    assert_int_not_equal(id[1], id[0]);
    sim_messages_drop(&m, id[0]);
    sim_messages_drop(&m, id[1]);
    assert_int_equal(m.by_key.n_used, m.n_idle);
    sim_messages_free(&m);
}

/* The model: per key the subjects of its sends and receives in the order of posting; number n meets number n. */
CLAIM(random_posts_agree_with_plain_lists)
{
    enum { KEYS = 8, POSTS = 3000 };
    static uint32_t message_of[2][KEYS][POSTS];
    uint32_t posted[2][KEYS] = {{0}}, dropped[KEYS] = {0};
    uint64_t seed = 51;

    sim_messages_init(&m);
    for (int step = 0; step < POSTS; step++) {
        uint32_t k = (uint32_t)(unit_random(&seed) % KEYS), send = unit_random(&seed) % 2, n, met;
        const sim_message_key key = {(int32_t)(k % 2), k / 2 % 2, k / 4, 64};

        n = posted[send][k]++;
        message_of[send][k][n] = post(&key, send, n);
        if (n < posted[!send][k])
            assert_int_equal(message_of[send][k][n], message_of[!send][k][n]);
        met = posted[0][k] < posted[1][k] ? posted[0][k] : posted[1][k];
        while (dropped[k] < met && unit_random(&seed) % 3) {
            uint32_t id = message_of[0][k][dropped[k]++];

            assert_int_equal(m.message[id].on_sent.subject, dropped[k] - 1);
            assert_int_equal(m.message[id].on_received.subject, dropped[k] - 1);
            sim_messages_drop(&m, id);
        }
        if (dropped[k] == posted[0][k] && dropped[k] == posted[1][k]) /* counting may start again */
            dropped[k] = posted[0][k] = posted[1][k] = 0;
    }
    for (uint32_t k = 0; k < KEYS; k++) {
        const sim_message_key key = {(int32_t)(k % 2), k / 2 % 2, k / 4, 64};

        while (posted[0][k] != posted[1][k]) {
            uint32_t send = posted[1][k] < posted[0][k], n = posted[send][k]++;

            message_of[send][k][n] = post(&key, send, n);
            assert_int_equal(message_of[send][k][n], message_of[!send][k][n]);
        }
        while (dropped[k] < posted[0][k])
            sim_messages_drop(&m, message_of[0][k][dropped[k]++]);
    }
    assert_int_equal(m.by_key.n_used, m.n_idle);
    sim_messages_free(&m);
}

CLAIM(memory_is_reused)
{
    sim_messages_init(&m);
    for (int i = 0; i < 1000; i++) {
        const sim_message_key key = {i, 0, 1, 64}; /* a channel of its own each time */
        uint32_t id = post(&key, true, 0);

        post(&key, false, 0);
        sim_messages_drop(&m, id);
    }
    assert_int_equal(m.n_messages, 1);
    assert_true(m.n_channels <= 1024); /* idle ones are kept up to a number */
    sim_messages_free(&m);
}

/* Of 4096 channels at once more than 2048 must be idle before they go: 2049 of the 4095 that are dropped whole do, and
 * 2046 are left. */
CLAIM(idle_channels_go_by_the_half_of_the_most_there_were)
{
    static uint32_t id[4096];
    uint32_t last;

    sim_messages_init(&m);
    for (uint32_t i = 0; i < 4096; i++) {
        const sim_message_key key = {(int32_t)i, 0, 1, 64};

        id[i] = post(&key, true, i);
        assert_int_equal(post(&key, false, i), id[i]);
    }
    last = post(&k1, true, 0); /* one that stays: key 1 has a second message */
    for (uint32_t i = 0; i < 4096; i++) {
        assert_int_equal(m.message[id[i]].on_sent.subject, i);
        sim_messages_drop(&m, id[i]);
    }
    assert_int_equal(m.n_channels, 4096);
    assert_int_equal(m.n_idle, 4095 - 2049);
    assert_int_equal(m.by_key.n_used, m.n_idle + 1);
    assert_int_equal(post(&k1, false, 0), last);
    sim_messages_drop(&m, last);
    sim_messages_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_send_meets_the_receive_posted_before_it),
        cmocka_unit_test(a_receive_meets_the_send_posted_before_it),
        cmocka_unit_test(the_nth_send_meets_the_nth_receive),
        cmocka_unit_test(messages_that_differ_in_anything_do_not_meet),
        cmocka_unit_test(a_channel_is_idle_when_all_have_met_and_not_before),
        cmocka_unit_test(messages_may_be_dropped_in_any_order),
        cmocka_unit_test(random_posts_agree_with_plain_lists),
        cmocka_unit_test(memory_is_reused),
        cmocka_unit_test(idle_channels_go_by_the_half_of_the_most_there_were),
    };
    return RUN_TESTS(tests);
}
