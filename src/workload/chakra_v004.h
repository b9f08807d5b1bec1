/* Chakra schema v0.0.4 (et_def.proto): the numbers of the fields that are written or read. For chakra_*.c
 * and writers of other graphs (whatif/et.h). */
#ifndef DSE_WORKLOAD_CHAKRA_V004_H
#define DSE_WORKLOAD_CHAKRA_V004_H

enum { METADATA_VERSION = 1, METADATA_ATTR = 2 };
enum {
    NODE_ID = 1,
    NODE_NAME = 2,
    NODE_TYPE = 3,
    NODE_CTRL_DEPS = 4,
    NODE_DATA_DEPS = 5,
    NODE_DURATION = 7,
    NODE_INPUTS = 8,
    NODE_OUTPUTS = 9,
    NODE_ATTR = 10
};
enum {
    ATTR_NAME = 1,
    ATTR_INT32 = 7,
    ATTR_INT64 = 9,
    ATTR_UINT32 = 11,
    ATTR_UINT64 = 13,
    ATTR_BOOL = 27,
    ATTR_BOOL_LIST = 28,
    ATTR_STRING = 29,
    ATTR_STRING_LIST = 30
};
enum { STRING_LIST_VALUES = 1 };
enum { IO_VALUES = 1, IO_SHAPES, IO_TYPES };

#endif
