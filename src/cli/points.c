#include "cli/points.h"

#include "cards/locate.h"
#include "driver/points_file.h"
#include "driver/sample.h"
#include "driver/space_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MANY_POINTS 1000000u

#define FIELD(f) .offset = offsetof(points_options, f)

static const option options[] = {
    {"--model", OPT_STRING, "NAME[,...]", "",
     "model cards: names in configs/models, paths, or Hugging Face configs", FIELD(model)},
    {"--system", OPT_STRING, "NAME[,...]", "",
     "system cards: names in configs/systems, paths, or folders with ASTRA-sim's files", FIELD(system)},
    OPTION_GROUP(strategy_list_options, strategy),
    {"--space", OPT_STRING, "NAME", "",
     "a space instead, a name in configs/spaces or a file: models, systems, axes, constraints", FIELD(space)},
    {"--points", OPT_STRING, "FILE", "",
     "a list of points instead, one a line: POINT, or MODEL SYSTEM POINT [KEY=VALUE...]", FIELD(points)},
    {"--sample", OPT_INT, "N", "",
     "only so many points of each model, drawn as Python's random.sample draws them", .min = 1, .max = 1e9,
     FIELD(sample)},
    {"--seed", OPT_INT, "N", "", "seed of the sample; 0 if not given", FIELD(seed)},
    OPTION_GROUP(sizing_group, sizing),
    OPTION_SET,
    {"--force", OPT_FLAG, NULL, "false", "also a space of more than a million points, or too many to count",
     FIELD(force)},
};

OPTION_ROWS(points_group)

/* What the options, or a file, say. */
typedef struct {
    const char **model, **system; /* names or paths */
    size_t n_models, n_systems;
    cfg_settings settings;
    drv_space space;
} request;

/* "a,b" -> "a", "b" in the arena. */
static dse_status split(const char *text, dse_arena *a, const char ***out, size_t *n, dse_error *err)
{
    char *copy = dse_arena_strdup(a, text);

    *out = DSE_ARENA_NEW(a, const char *, strlen(text) + 1);
    *n = 0;
    for (char *p = copy; p;) {
        char *comma = strchr(p, ',');

        if (comma)
            *comma = '\0';
        if (!*p)
            return dse_fail(err, DSE_E_USAGE, "an empty name in '%s'", text);
        for (size_t i = 0; i < *n; i++)
            if (!strcmp((*out)[i], p))
                return dse_fail(err, DSE_E_USAGE, "'%s' stands twice in '%s'", p, text);
        (*out)[(*n)++] = p;
        p = comma ? comma + 1 : NULL;
    }
    return DSE_OK;
}

/* Refuses options that repeat what a file says, or that lack another option. */
static dse_status check_options(const points_options *o, dse_error *err)
{
    const char *file = o->space ? "--space" : o->points ? "--points" : NULL;
    const uint32_t given = strategy_options_given(&o->strategy, STRATEGY_ALL);

    if (o->space && o->points)
        return dse_fail(err, DSE_E_USAGE, "give either --space or --points, not both");
    if (file && given < STRATEGY_N)
        return dse_fail(err, DSE_E_USAGE, "%s says which points there are; %s cannot be given as well", file,
                        strategy_option_name(given));
    if (o->points && o->sample)
        return dse_fail(err, DSE_E_USAGE,
                        "--points says which points there are; --sample draws from a space");
    if (o->seed && !o->sample)
        return dse_fail(err, DSE_E_USAGE, "--seed needs --sample N");
    return DSE_OK;
}

/* The settings of the file and of the command line. */
static dse_status join_settings(const cfg_settings *file, const option_list *set, dse_arena *a,
                                cfg_settings *out, dse_error *err)
{
    const char **words = DSE_ARENA_NEW(a, const char *, file->n + set->n);

    for (size_t i = 0; i < file->n; i++)
        words[i] = dse_arena_printf(a, "%s=%s", file->item[i].path, file->item[i].value);
    for (size_t i = 0; i < set->n; i++)
        words[file->n + i] = set->item[i];
    return drv_settings_parse(words, file->n + set->n, a, out, err);
}

/* Models and systems come from the file or from the options. */
static dse_status choose_cards(const char *name, const char *text, const char *section,
                               const points_options *o, dse_arena *a, const char ***out, size_t *n,
                               dse_error *err)
{
    if (text && *n)
        return dse_fail(err, DSE_E_USAGE, "%s names its %s; %s cannot be given as well", o->space, section,
                        name);
    if (text)
        return split(text, a, out, n, err);
    if (!*n && o->space)
        return dse_fail(err, DSE_E_USAGE, "%s has no %s, and %s is missing", o->space, section, name);
    if (!*n && !o->points)
        return dse_fail(err, DSE_E_USAGE, "%s is missing; see 'ccldse sweep --help'", name);
    return DSE_OK;
}

static dse_status read_request(const points_options *o, dse_arena *a, request *out, dse_error *err)
{
    drv_space_file file = {0};
    option_list set;
    const char *path;
    dse_status st = check_options(o, err);

    if (st == DSE_OK && o->space)
        st = card_locate(CARD_SPACES, o->space, a, &path, err);
    if (st == DSE_OK && o->space)
        st = drv_space_file_read(path, a, &file, err);
    *out = (request){file.model, file.system, file.n_models, file.n_systems, {0}, file.space};
    if (st != DSE_OK ||
        (st = choose_cards("--model", o->model, "models", o, a, &out->model, &out->n_models, err)) !=
            DSE_OK ||
        (st = choose_cards("--system", o->system, "systems", o, a, &out->system, &out->n_systems, err)) !=
            DSE_OK ||
        (st = sizing_settings(&o->sizing, out->system, out->n_systems, &o->set, a, &set, err)) != DSE_OK ||
        (st = join_settings(&file.settings, &set, a, &out->settings, err)) != DSE_OK)
        return st;
    if (o->points && !out->n_models != !out->n_systems)
        return dse_fail(err, DSE_E_USAGE, "--points needs both --model and --system, or neither");
    out->space.every_value = !o->space;
    return o->space ? DSE_OK : strategy_options_axes(&o->strategy, &out->space.strategy, err);
}

/* Refuses a space that is probably too large by mistake. */
static dse_status check_size(const drv_space *space, dse_error *err)
{
    static const struct {
        const char *before, *behind;
        uint64_t max;
    } sizes[] = {
        [DRV_SIZE_POINTS] = {"", " points", MANY_POINTS},
        [DRV_SIZE_UNCONSTRAINED] = {"up to ", " points before its constraints, too many to count", 0},
        [DRV_SIZE_VARIANTS] = {"", " combinations of values, too many to count their points", 0},
    };
    drv_size size;
    dse_status st = drv_space_estimate(space, &size, err);

    if (st != DSE_OK || size.n <= sizes[size.what].max)
        return st;
    return dse_fail(
        err, DSE_E_RANGE,
        "the space has %s%" PRIu64 "%s; 'ccldse sweep --search' finds its best, --force goes on all the same",
        size.n == UINT64_MAX ? "more than " : sizes[size.what].before, size.n, sizes[size.what].behind);
}

dse_status points_space(const points_options *o, dse_arena *a, drv_space *space, dse_error *err)
{
    request q;
    dse_status st;

    if (o->points || o->sample)
        return dse_fail(err, DSE_E_USAGE, "--search looks for the best of a space; leave out %s",
                        o->points ? "--points" : "--sample");
    if ((st = read_request(o, a, &q, err)) != DSE_OK)
        return st;
    *space = q.space;
    return drv_space_load(q.model, q.n_models, q.system, q.n_systems, &q.settings, a, space, err);
}

/* A list, or for a shard (NULL: a list is wanted) of a space what makes its points again; *n_all: how many
 * there are without the shard. */
static dse_status make_points(const points_options *o, const drv_shard *shard, dse_arena *a, drv_space *space,
                              drv_points *out, size_t *n_all, dse_error *err)
{
    drv_points_context context;
    request q;
    dse_status st = read_request(o, a, &q, err);

    if (st != DSE_OK)
        return st;
    if (o->points) {
        context = (drv_points_context){q.model, q.system, q.n_models, q.n_systems, &q.settings};
        return drv_points_file_read(o->points, &context, a, space, out, err);
    }
    *space = q.space;
    if ((st = drv_space_load(q.model, q.n_models, q.system, q.n_systems, &q.settings, a, space, err)) !=
            DSE_OK ||
        (!o->force && (st = check_size(space, err)) != DSE_OK))
        return st;
    if (shard && !o->sample)
        return drv_space_stream(space, *shard, a, out, n_all, err);
    st = drv_space_points(space, a, out, err);
    return st == DSE_OK && o->sample ? drv_points_sample(out, (uint32_t)o->sample, o->seed, a, err) : st;
}

dse_status points_list(const points_options *o, dse_arena *a, drv_space *space, drv_points *out,
                       dse_error *err)
{
    return make_points(o, NULL, a, space, out, NULL, err);
}

static dse_status read_shard(const char *text, drv_shard *out, dse_error *err)
{
    const char *slash = text ? strchr(text, '/') : NULL;
    char first[24] = ""; /* what is longer fits in no 64 bits */
    uint64_t which = 1, of = 1;

    if (slash && (size_t)(slash - text) < sizeof first)
        memcpy(first, text, (size_t)(slash - text));
    if (text && (!slash || dse_parse_u64(first, &which, NULL) != DSE_OK ||
                 dse_parse_u64(slash + 1, &of, NULL) != DSE_OK || !which || which > of))
        return dse_fail(err, DSE_E_USAGE, "--shard takes K/N, the K-th of N shards, such as 2/3; not '%.60s'",
                        text);
    *out = (drv_shard){which - 1, of};
    return DSE_OK;
}

dse_status points_shard(const points_options *o, const char *text, dse_arena *a, drv_space *space,
                        drv_points *out, dse_error *err)
{
    size_t n_all = 0;
    drv_shard shard;
    dse_status st = read_shard(text, &shard, err);

    if (st != DSE_OK || (st = make_points(o, &shard, a, space, out, &n_all, err)) != DSE_OK)
        return st;
    if (out->point) {
        n_all = out->n;
        drv_points_take_shard(out, shard);
    }
    if (!out->n)
        return dse_fail(err, DSE_E_USAGE, "shard %s is empty, as there are %zu points; take fewer shards",
                        text, n_all);
    return DSE_OK;
}
