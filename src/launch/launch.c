#include "launch/parts.h"

#include <string.h>

const launch_program *const launch_programs[] = {&launch_megatron,
                                                 &launch_bridge,
                                                 &launch_torchtitan,
                                                 &launch_torchtitan_toml,
                                                 &launch_deepspeed,
                                                 &launch_deepspeed_json,
                                                 NULL};

const char *const launch_names[] = {"megatron",  "bridge",         "torchtitan", "torchtitan-toml",
                                    "deepspeed", "deepspeed-json", NULL};

const launch_program *launch_find(const char *name)
{
    for (const launch_program *const *p = launch_programs; *p; p++)
        if (!strcmp((*p)->name, name))
            return *p;
    return NULL;
}

const launch_program *launch_of(uint32_t like)
{
    /* TorchTitan's defaults, as `like` has them, are those of v0.2.2, which reads TOML. */
    const char *name = strategy_parameters[STRATEGY_like].choices[like];

    if (!strcmp(name, launch_torchtitan_toml.like))
        return &launch_torchtitan_toml;
    for (const launch_program *const *p = launch_programs; *p; p++)
        if (!strcmp((*p)->like, name))
            return *p;
    return &launch_megatron; /* any has Megatron's habits; that of 2022 has the same options */
}

dse_status launch_write(const launch_job *job, const launch_program *program, dse_strbuf *out, dse_error *err)
{
    dse_strbuf text;
    dse_status st;

    dse_strbuf_init(&text);
    st = program->write(job, &text, err);
    if (st == DSE_OK)
        dse_strbuf_add(out, text.data, text.len);
    dse_strbuf_free(&text);
    return st;
}
