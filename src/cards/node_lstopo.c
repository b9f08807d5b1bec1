/* lstopo node.xml: hwloc's export, of which a few elements are read by a scanner of our own. hwloc writes
 * elements with attributes alone, one a line; a parser of all of XML would be a dependency for this one file.
 *
 *   <object type="PCIDev" pci_link_speed="31.507692">       GB/s each way, as the slot was trained
 *     <object type="OSDev" name="cuda0" subtype="CUDA"> GPU: CUDA, NVML or RSMI; network card: OpenFabrics
 *       <info name="GPUModel" value="NVIDIA A100-SXM4-80GB"/>
 *       <info name="CUDAGlobalMemorySize" value="83151872"/>  KiB
 *   <distances2hetero nbobjs="4" name="NVLinkBandwidth" ...> MB/s between GPUs and NVSwitches
 *     <indexes ...>PCIDev:... </indexes>
 *     <u64values length="..">...</u64values> */
#include "cards/node.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH   64
#define MAX_OBJECTS 64 /* GPUs and NVSwitches of a node */
#define MAX_VALUES  (MAX_OBJECTS * MAX_OBJECTS)

typedef struct {
    bool is_counted; /* as a GPU */
    double pcie;
} level;

typedef struct {
    level stack[MAX_DEPTH];
    uint32_t depth;
    bool in_nvlink, in_values;
    uint32_t n_objects, n_values;
    double value[MAX_VALUES];
    card_node *out;
} scan;

/* The value of an attribute of a tag, whose text ends at `end`; "" if it has none. */
static void attribute(const char *tag, const char *end, const char *name, char *out, size_t size)
{
    size_t n = strlen(name), k = 0;

    *out = '\0';
    for (const char *p = tag; p + n + 2 < end; p++)
        if (isspace((unsigned char)p[0]) && !strncmp(p + 1, name, n) && p[n + 1] == '=' && p[n + 2] == '"') {
            for (p += n + 3; p < end && *p != '"' && k + 1 < size; p++)
                out[k++] = *p;
            out[k] = '\0';
            return;
        }
}

static bool is_tag(const char *tag, const char *name)
{
    size_t n = strlen(name);

    return !strncmp(tag, name, n) && (isspace((unsigned char)tag[n]) || tag[n] == '>' || tag[n] == '/');
}

static bool is_gpu(const char *subtype)
{
    return !strcmp(subtype, "CUDA") || !strcmp(subtype, "NVML") || !strcmp(subtype, "RSMI");
}

static void begin_object(scan *s, const char *tag, const char *end)
{
    char type[32], subtype[32], speed[32];
    level *l = &s->stack[s->depth < MAX_DEPTH ? s->depth : MAX_DEPTH - 1];

    attribute(tag, end, "type", type, sizeof type);
    attribute(tag, end, "subtype", subtype, sizeof subtype);
    attribute(tag, end, "pci_link_speed", speed, sizeof speed);
    *l = (level){.pcie = strtod(speed, NULL) * 1e9};
    if (!strcmp(type, "OSDev") && is_gpu(subtype)) {
        level *device = s->depth && s->depth < MAX_DEPTH ? l - 1 : l; /* a GPU may have several faces */

        s->out->npus += !device->is_counted;
        device->is_counted = true;
        if (device->pcie > 0)
            s->out->pcie_bytes_per_s = device->pcie;
    }
    s->out->all_nics += !strcmp(type, "OSDev") && !strcmp(subtype, "OpenFabrics");
    s->depth++;
}

/* "NVIDIA A100-SXM4-80GB": nvidia_a100. */
static void name_device(const char *model, card_node *out)
{
    size_t n = 0;
    const char *p = model + (!strncmp(model, "NVIDIA ", 7)          ? 7
                             : !strncmp(model, "AMD Instinct ", 13) ? 13
                                                                    : 0);

    if (!strncmp(p, "Tesla ", 6) || !strncmp(p, "Graphics ", 9))
        p = strchr(p, ' ') + 1;
    n = (size_t)snprintf(out->device, sizeof out->device, "%s_",
                         !strncmp(model, "AMD", 3) ? "amd" : "nvidia");
    for (; isalnum((unsigned char)*p) && n + 1 < sizeof out->device; p++)
        out->device[n++] = (char)tolower((unsigned char)*p);
    out->device[n] = '\0';
}

static void read_info(scan *s, const char *tag, const char *end)
{
    char name[64], value[128];

    attribute(tag, end, "name", name, sizeof name);
    attribute(tag, end, "value", value, sizeof value);
    if (!strcmp(name, "GPUModel") && !*s->out->device)
        name_device(value, s->out);
    if (!strcmp(name, "CUDAGlobalMemorySize"))
        s->out->memory_bytes = strtod(value, NULL) * 1024;
}

static void read_values(scan *s, const char *text, const char *end)
{
    while (text < end && s->n_values < MAX_VALUES) {
        char *next;
        double v = strtod(text, &next);

        if (next == text || next > end)
            return;
        s->value[s->n_values++] = v * 1e6;
        text = next;
    }
}

/* The links of the first GPU: to others, or all to switches. Other values than a GPU's are of the rows
 * behind. */
static void use_values(scan *s)
{
    const uint32_t n = s->n_objects;

    if (!n || n > MAX_OBJECTS || s->n_values < n * n)
        return;
    s->out->is_switched = n > s->out->npus;
    for (uint32_t i = 1; i < n; i++)
        s->out->npu_bytes_per_s += s->value[i];
    s->out->pair_bytes_per_s = s->value[1];
    for (uint32_t i = 0; !s->out->is_switched && i < n * n; i++)
        if (i / n != i % n && s->value[i] < s->out->pair_bytes_per_s)
            s->out->pair_bytes_per_s = s->value[i]; /* a pair without links: 0 */
}

static void read_tag(scan *s, const char *tag, const char *end)
{
    char name[64], n[16];

    if (is_tag(tag, "object")) {
        begin_object(s, tag, end);
        s->depth -= end[-1] == '/';
    } else if (is_tag(tag, "/object")) {
        s->depth -= s->depth > 0;
    } else if (is_tag(tag, "info")) {
        read_info(s, tag, end);
    } else if (is_tag(tag, "distances2") || is_tag(tag, "distances2hetero")) {
        attribute(tag, end, "name", name, sizeof name);
        attribute(tag, end, "nbobjs", n, sizeof n);
        s->in_nvlink = !strcmp(name, "NVLinkBandwidth");
        s->n_objects = s->in_nvlink ? (uint32_t)strtoul(n, NULL, 10) : s->n_objects;
    } else if (is_tag(tag, "/distances2") || is_tag(tag, "/distances2hetero")) {
        s->in_nvlink = false;
    } else if (is_tag(tag, "u64values")) {
        if (s->in_nvlink)
            read_values(s, end + 1, end + 1 + strcspn(end + 1, "<"));
    }
}

dse_status card_node_read_lstopo(const char *path, const char *text, card_node *out, dse_error *err)
{
    scan *s = dse_calloc(1, sizeof *s);
    const char *topology = strstr(text, "<topology");

    *out = (card_node){.path = path, .tool = "lstopo"};
    s->out = out;
    for (const char *p = topology, *end; p && (p = strchr(p, '<')) && (end = strchr(p, '>')); p = end)
        read_tag(s, p + 1, end);
    use_values(s);
    free(s);
    if (!topology)
        return dse_fail_at(err, DSE_E_SYNTAX, path, "this is no export of hwloc; write it with: lstopo %s",
                           path);
    if (!out->npus)
        return dse_fail_at(err, DSE_E_CONFIG, path,
                           "there is no GPU in it; write it on the node with an hwloc that has CUDA, NVML or "
                           "RSMI: lstopo %s",
                           path);
    out->nics = out->all_nics;
    snprintf(out->link, sizeof out->link, "%s",
             out->pair_bytes_per_s > 0 || out->is_switched ? "NVLink" : "PCIe");
    return DSE_OK;
}
