/* What libuv says of the machine, against what the kernel does. */
#include "exec/machine.h"
#include "unit/unit.h"

CLAIM(memory_is_no_more_than_the_machine_has)
{
    uint64_t total = 0, available = 0;
    uint64_t machine = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);

    exec_memory(&total, &available);
    assert_true(total > 0 && total <= machine);
    assert_true(available <= total);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(memory_is_no_more_than_the_machine_has)};

    return RUN_TESTS(tests);
}
