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

CLAIM(a_program_is_found_where_path_leads)
{
    char folder[64], path[256], found[256], search[300];

    unit_make_folder(folder);
    snprintf(search, sizeof search, "/nowhere:%s:/bin", folder);
    assert_int_equal(setenv("PATH", search, 1), 0);
    snprintf(path, sizeof path, "%s/tool", folder);
    unit_write_text(path, "");
    assert_false(exec_find("tool", found, sizeof found)); /* it cannot be executed */
    assert_int_equal(chmod(path, 0755), 0);
    assert_true(exec_find("tool", found, sizeof found));
    assert_string_equal(found, path);
    assert_false(exec_find("tool", found, strlen(path))); /* no room for the NUL */
    assert_false(exec_find("tools", found, sizeof found));
    assert_int_equal(setenv("PATH", "", 1), 0);
    assert_int_equal(chdir(folder), 0);
    assert_true(exec_find("tool", found, sizeof found)); /* an empty part is the current folder */
    assert_string_equal(found, "tool");
    assert_int_equal(unsetenv("PATH"), 0);
    assert_false(exec_find("tool", found, sizeof found));
    unit_remove_folder(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(memory_is_no_more_than_the_machine_has),
                                       cmocka_unit_test(a_program_is_found_where_path_leads)};

    return RUN_TESTS(tests);
}
