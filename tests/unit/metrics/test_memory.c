/* Every metric of Kineto traces says so when memory runs out, wherever that is. */
#include "unit/metrics/run.h"

typedef struct {
    run r;
    const char *name;
} asked;

int main(void)
{
    const struct CMUnitTest tests[] = {
    };
    return RUN_TESTS(tests);
}
