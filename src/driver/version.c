#include "driver/version.h"

#include "base/array.h"
#include "config/doc.h"
#include "exec/machine.h"
#include "store/store.h"
#include "workload/chakra.h"

/* Of each the default before the newest, which --stage-version and --astrasim-version select; the last two
 * are ASTRA-sim's submodules. */
static const drv_upstream upstreams[] = {
    {"STAGE", "0b44904", "recomp"},
    {"STAGE", "9ec6c02", "main"},
    {"ASTRA-sim", "af2492b", "stage"},
    {"ASTRA-sim", "518bd51", "master"},
    {"astra-network-analytical", "599a047", NULL},
    {"chakra", "f37c2bb", NULL},
};

const drv_upstream *drv_upstreams(size_t *n)
{
    *n = DSE_COUNT(upstreams);
    return upstreams;
}

void drv_libraries(drv_library out[DRV_N_LIBRARIES])
{
    const drv_library libraries[DRV_N_LIBRARIES] = {{"libyaml", cfg_yaml_version()},
                                                    {"jansson", cfg_json_version()},
                                                    {"libuv", exec_uv_version()},
                                                    {"SQLite", store_sqlite_version()},
                                                    {"zlib", wl_zlib_version()}};

    for (int i = 0; i < DRV_N_LIBRARIES; i++)
        out[i] = libraries[i];
}
