#include "measured/submission.h"

#include "base/array.h"
#include "base/fs.h"
#include "base/json_writer.h"
#include "base/names.h"
#include "driver/measure.h"
#include "trace/text_file.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct {
    const drv_recording *recording;
    const char *folder;
    dse_arena *arena;
    msr_submission *out;
} submission;

/* ---- the card, flattened -------------------------------------------------------------------- */

/* Keys of the board, and where the card has them. */
static const struct {
    const char *key, *path;
} metadata[] = {
    {"description", "description"},
    {"hf_url", "hf_url"},
    {"trace_url", "trace_url"},
    {"model_family", "workload.model.model_family"},
    {"phase", "workload.model.phase"},
    {"precision", "workload.model.precision"},
    {"moe", "workload.model.moe"},
    {"granularity", "workload.model.granularity"},
    {"epochs", "workload.model.epochs"},
    {"iteration", "workload.model.iteration"},
    {"batch_size", "workload.data.batch_size"},
    {"seq_len", "workload.data.seq_len"},
    {"input_len", "workload.data.input_len"},
    {"output_len", "workload.data.output_len"},
    {"dataset", "workload.data.dataset"},
    {"hardware_type", "workload.hardware.xpu_spec.type"},
    {"hardware_model", "workload.hardware.xpu_spec.model"},
    {"total_count", "workload.hardware.xpu_spec.total_count"},
    {"count_per_node", "workload.hardware.xpu_spec.count_per_node"},
    {"network_topology", "workload.hardware.network_topo.topology"},
    {"bandwidth_scaleout", "workload.hardware.network_topo.bandwidth_gbps.0"},
    {"bandwidth_scaleup", "workload.hardware.network_topo.bandwidth_gbps.1"},
    {"driver_version", "workload.hardware.driver_version"},
    {"framework", "Model-executor.framework.name"},
    {"compiler", "Model-executor.framework.compiler_tool_selection"},
    {"tp", "Model-executor.model_plan_parallelization.tp"},
    {"pp", "Model-executor.model_plan_parallelization.pp"},
    {"pp_mb", "Model-executor.model_plan_parallelization.pp_mb"},
    {"dp_replicate", "Model-executor.model_plan_parallelization.dp_replicate"},
    {"dp_shard", "Model-executor.model_plan_parallelization.dp_shard"},
    {"ep", "Model-executor.model_plan_parallelization.ep"},
    {"cp", "Model-executor.model_plan_parallelization.cp"},
    {"comm_library", "Model-executor.communication_library.name"},
    {"comm_library_ver", "Model-executor.communication_library.version"},
    {"comm_env", "Model-executor.communication_library.env"},
    {"protocol_selection", "Model-executor.protocol_selection"},
    {"trace_types", "metric_source.traces"},
    {"metric_traces", "metric_source.metrics_specific_trace"},
};

/* The value of a dotted path, in which a number is a place of a list; NULL. */
static const cfg_node *value_at(const cfg_node *node, const char *path)
{
    char word[64];

    while (node && *path) {
        size_t n = strcspn(path, ".");

        snprintf(word, sizeof word, "%.*s", (int)n, path);
        if (node->kind == CFG_LIST)
            node = strtoul(word, NULL, 10) < node->n ? node->item[strtoul(word, NULL, 10)] : NULL;
        else
            node = cfg_get(node, word);
        path += n + (path[n] == '.');
    }
    return node;
}

static bool is_word(const char *text, const char *a, const char *b, const char *c)
{
    return !strcmp(text, a) || !strcmp(text, b) || !strcmp(text, c);
}

static bool is_null(const cfg_node *v)
{
    return v->kind == CFG_SCALAR && !v->quoted && is_word(v->text, "", "null", "~");
}

/* As PyYAML takes a scalar, in JSON. */
static void put_scalar(const cfg_node *v, dse_json *j)
{
    char *end;
    double number = strtod(v->text, &end);
    bool is_number = !*end && isfinite(number) && strspn(v->text, "-+.0123456789eE") == strlen(v->text);

    if (v->quoted)
        dse_json_string(j, v->text);
    else if (is_null(v))
        dse_json_null(j);
    else if (is_word(v->text, "true", "True", "yes") || is_word(v->text, "false", "False", "no"))
        dse_json_bool(j, is_word(v->text, "true", "True", "yes"));
    else if (is_number && strspn(v->text, "-0123456789") == strlen(v->text) && fabs(number) < 1e15)
        dse_json_int(j, (int64_t)number);
    else if (is_number)
        dse_json_double(j, number);
    else
        dse_json_string(j, v->text);
}

static void put_value(const cfg_node *v, dse_json *j)
{
    bool map = v->kind == CFG_MAP;

    if (v->kind == CFG_SCALAR) {
        put_scalar(v, j);
        return;
    }
    map ? dse_json_begin_object(j) : dse_json_begin_array(j);
    for (uint32_t i = 0; i < v->n; i++) {
        if (map)
            dse_json_key(j, v->key[i]->text);
        put_value(v->item[i], j);
    }
    map ? dse_json_end_object(j) : dse_json_end_array(j);
}

static void put_metadata(const submission *s, const cfg_doc *card, dse_json *j)
{
    dse_json_key_object(j, "metadata");
    dse_json_key_string(j, "workload_name", s->out->name);
    for (size_t i = 0; i < DSE_COUNT(metadata); i++) {
        const cfg_node *v = value_at(card->root, metadata[i].path);

        if (!v) /* some cards have the section below the other one */
            v = value_at(cfg_get(card->root, "workload"), metadata[i].path);
        dse_json_key(j, metadata[i].key);
        if (v && !is_null(v))
            put_value(v, j);
        else
            dse_json_string(j, "");
    }
    dse_json_end_object(j);
}

/* ---- values ---------------------------------------------------------------------------------- */

/* The last line that the original prints, as the board takes it: a number to six digits; none for NaN and
 * -1. */
static bool put_metric(const report_measured *m, dse_json *j)
{
    dse_strbuf text;
    char rounded[32], *end;
    double v = NAN;
    bool is_number;

    dse_strbuf_init(&text);
    if (m->value)
        report_measured_bare(m, &text);
    if (text.len)
        text.data[strcspn(text.data, "\n")] = '\0';
    v = strtod(text.data, &end);
    is_number = *text.data && !*end && isfinite(v) && !(v >= -1 && v <= -1);
    dse_strbuf_free(&text);
    snprintf(rounded, sizeof rounded, "%.6g", v);
    dse_json_key(j, m->name);
    if (is_number)
        dse_json_double(j, strtod(rounded, NULL));
    else
        dse_json_null(j);
    return is_number;
}

/* The later tools are the board's; it also has one of the others. */
static dse_status put_metrics(submission *s, dse_json *j, dse_error *err)
{
    const metric_options how = {.compat = true};
    size_t n;
    const char **name = drv_metric_names("later", s->arena, &n);
    dse_status st = DSE_OK;

    dse_json_key_object(j, "metrics");
    for (size_t i = 0; st == DSE_OK && i <= n; i++) {
        const char *of = i < n ? name[i] : "mfu";
        const metric *row;
        report_measured m;

        if ((st = drv_measure_find(s->recording, of, true, &row, err)) != DSE_OK ||
            (st = drv_measure(s->recording, row, of, &how, s->arena, &m, err)) != DSE_OK)
            break;
        if (!row->headline || m.other_kind)
            continue;
        s->out->n_metrics++;
        s->out->n_values += put_metric(&m, j);
    }
    dse_json_end_object(j);
    return st;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* What is packed already, and what is no JSON, as it is. */
static dse_status copy(const char *from, const char *to, dse_error *err)
{
    dse_strbuf text;
    dse_status st;

    dse_strbuf_init(&text);
    if ((st = dse_read_file(from, 0, &text, err)) == DSE_OK)
        st = dse_write_text(to, &text, err);
    dse_strbuf_free(&text);
    return st;
}

static dse_status compress(const char *from, const char *to, dse_error *err)
{
    trace_text_file file;
    char chunk[65536];
    size_t n;
    FILE *f = fopen(from, "rb");
    dse_status st =
        f ? trace_text_file_open(&file, to, err) : dse_fail_at(err, DSE_E_IO, from, "%s", strerror(errno));

    if (st == DSE_OK) {
        while (st == DSE_OK && (n = fread(chunk, 1, sizeof chunk, f)) > 0) {
            dse_strbuf_add(&file.text, chunk, n);
            st = trace_text_file_flush(&file, err);
        }
        if (st == DSE_OK && ferror(f))
            st = dse_fail_at(err, DSE_E_IO, from, "%s", strerror(errno));
        st = trace_text_file_close(&file, st, err);
    }
    if (f)
        fclose(f);
    return st;
}

static dse_status pack(submission *s, const char *from, dse_error *err)
{
    const char *name = strrchr(from, '/') ? strrchr(from, '/') + 1 : from;
    bool is_json = dse_ends(name, ".json");
    const char *to =
        dse_arena_printf(s->arena, "%s/%s/%s%s", s->folder, s->out->name, name, is_json ? ".gz" : "");
    struct stat info;
    dse_status st = (is_json ? compress : copy)(from, to, err);

    if (st == DSE_OK && stat(to, &info) == 0)
        s->out->bytes += (uint64_t)info.st_size;
    s->out->n_files++;
    return st;
}

static dse_status write_row(submission *s, const cfg_doc *card, dse_error *err)
{
    dse_strbuf text = dse_strbuf_in(s->arena);
    dse_json j;
    dse_status st;

    dse_json_open(&j, &text);
    dse_json_key(&j, "rows");
    dse_json_begin_array(&j);
    dse_json_begin_object(&j);
    dse_json_key_string(&j, "trace", s->out->name);
    put_metadata(s, card, &j);
    st = put_metrics(s, &j, err);
    dse_json_end_object(&j);
    dse_json_end_array(&j);
    dse_json_close(&j);
    if (st == DSE_OK)
        st = dse_write_text(dse_arena_printf(s->arena, "%s/benchmark_data.json", s->folder), &text, err);
    return st;
}

static dse_status write_pair(const submission *s, dse_error *err)
{
    dse_strbuf text = dse_strbuf_in(s->arena);
    dse_json j;

    dse_json_open(&j, &text);
    dse_json_key(&j, "pairs");
    dse_json_begin_array(&j);
    dse_json_begin_object(&j);
    dse_json_key_string(&j, "trace", s->out->name);
    dse_json_key_string(&j, "metrics", "auto");
    dse_json_key(&j, "required_update");
    dse_json_bool(&j, true);
    dse_json_end_object(&j);
    dse_json_end_array(&j);
    dse_json_close(&j);
    return dse_write_text(dse_arena_printf(s->arena, "%s/benchmark_config.json", s->folder), &text, err);
}

/* The last word of a path that names something: of "." the directory's own name. */
static const char *name_of(const char *path, dse_arena *a)
{
    char *full = realpath(path, NULL);
    const char *name = dse_arena_strdup(a, full ? full : path), *slash = strrchr(name, '/');

    free(full);
    return slash && slash[1] ? slash + 1 : name;
}

dse_status msr_submission_write(const drv_recording *r, const char *traces, const char *folder, dse_arena *a,
                                msr_submission *out, dse_error *err)
{
    submission s = {r, folder, a, out};
    dse_strbuf card = dse_strbuf_in(a);
    cfg_doc doc = {0};
    const char *last = NULL;
    dse_status st;

    *out = (msr_submission){.name = name_of(traces, a)};
    if (!r->has_card)
        return dse_fail_at(
            err, DSE_E_CONFIG, traces,
            "there is no workload card beside the traces, and a submission is its card first of all");
    if ((st = cfg_load(r->card.path, a, &doc, err)) != DSE_OK ||
        (st = dse_read_file(r->card.path, CFG_MAX_BYTES, &card, err)) != DSE_OK ||
        (st = dse_mkdirs(dse_arena_printf(a, "%s/%s", folder, out->name), err)) != DSE_OK ||
        (st = dse_write_text(dse_arena_printf(a, "%s/%s/workload_card.yaml", folder, out->name), &card,
                             err)) != DSE_OK)
        return st;
    out->bytes = card.len;
    for (size_t i = 0; st == DSE_OK && i < r->record.n_ranks; i++) {
        const char *path = r->record.rank[i].path;

        if (path && (!last || strcmp(path, last) != 0))
            st = pack(&s, path, err);
        last = path;
    }
    if (st == DSE_OK)
        st = write_row(&s, &doc, err);
    return st == DSE_OK ? write_pair(&s, err) : st;
}
