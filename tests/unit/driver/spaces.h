/* Spaces as a user writes them, over the cards of the tests: ring8 and boxes8 have 8 NPUs; small has 3 layers, 8 heads
 * and a batch of 16. */
#ifndef UNIT_DRIVER_SPACES_H
#define UNIT_DRIVER_SPACES_H

#include "driver/points.h"
#include "driver/space_file.h"
#include "unit/unit.h"

typedef struct {
    dse_arena arena;
    dse_error err;
    drv_space_file file;
    drv_space space;
    drv_points points;
    uint64_t n;
} spaces;

#define SMALL_ON_RING8 "models: [small]\nsystems: [ring8]\n"

/* Reads the text and loads its cards. */
static inline dse_status spaces_load(spaces *s, const char *text)
{
    dse_status st;

    dse_arena_reset(&s->arena);
    s->err = (dse_error)DSE_ERROR_INIT;
    st = drv_space_file_parse("s.yaml", text, strlen(text), &s->arena, &s->file, &s->err);
    s->space = s->file.space;
    return st == DSE_OK ? drv_space_load(s->file.model, s->file.n_models, s->file.system, s->file.n_systems,
                                         &s->file.settings, &s->arena, &s->space, &s->err)
                        : st;
}

/* And counts its points. */
static inline dse_status spaces_count(spaces *s, const char *text)
{
    dse_status st = spaces_load(s, text);

    return st == DSE_OK ? drv_space_count(&s->space, &s->n, &s->err) : st;
}

/* And makes them. */
static inline dse_status spaces_make(spaces *s, const char *text)
{
    dse_status st = spaces_count(s, text);

    return st == DSE_OK ? drv_space_points(&s->space, &s->arena, &s->points, &s->err) : st;
}

static inline const drv_variant *spaces_variant(const spaces *s, size_t i)
{
    return &s->points.variant[s->points.point[i].variant];
}

/* The value that is set over the cards of point i; "" if there is none. */
static inline const char *spaces_value(const spaces *s, size_t i, const char *path)
{
    const cfg_settings *settings = &spaces_variant(s, i)->settings;

    for (size_t k = 0; k < settings->n; k++)
        if (!strcmp(settings->item[k].path, path))
            return settings->item[k].value;
    return "";
}

static inline void spaces_use(const char *configs)
{
    assert_int_equal(setenv("CCLDSE_CONFIGS", configs, 1), 0);
}

#endif
