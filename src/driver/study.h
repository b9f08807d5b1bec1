/* What a result is a function of: a model, a system, a strategy, and the engine.
 *
 * A study is a model on a system. Its resolved configuration is one JSON text; that of a point adds the
 * strategy. The text travels to the worker processes, is stored beside the result, and its hash finds a
 * result that is already there. */
#ifndef DSE_DRIVER_STUDY_H
#define DSE_DRIVER_STUDY_H

#include "cards/device.h"
#include "cards/model.h"
#include "design/space.h"
#include "schedule/compose.h"
#include "sim/sim.h"
#include "store/store.h"
#include "workload/generate.h"

/* Changes whenever the engine's results may: then nothing stored before is reused. Those of profile train
 * have a version of their own, as the rules of the step still grow. */
#define DRV_ENGINE      "native-1"
#define DRV_STEP_ENGINE DRV_ENGINE ".step13"

typedef struct {
    const char *engine;                   /* who simulates: DRV_ENGINE, DRV_STEP_ENGINE, or another's name */
    const char *model_name, *system_name; /* of the cards, without folder and extension */
    const char *model_path, *system_path; /* as they were given: names or paths; NULL: not read from files */
    const char *model_note;               /* what the model has and is simulated without; NULL: nothing */
    const char *settings;                 /* what was set over the cards: "batch=256 layers=4"; "" */
    cfg_doc model_card;                   /* what the model was read from, as a card of ours */
    bool model_is_hf;                     /* and that was made of a Hugging Face config */
    card_model model;
    card_system system;
    cfg_doc operators;
    uint64_t operators_hash;       /* of the file's text: its content is part of the configuration */
    struct drv_training *training; /* of profile train (training.h); NULL: of profile stage */
    wl_generator *generator; /* of `operators`; the caller's. NULL: each workload is made from nothing */
    card_tables tables;      /* of kernels, that were read for it and for the study that it varies */
    sched_keeper *orders;    /* of pipelines; the caller's. NULL: each point makes its own */
    uint32_t tag_base;
    sim_shortcuts shortcuts; /* all, unless the caller sets others; no result is a function of them */
} drv_study;

/* Loads both cards, by name or path, and the operator file; checks what can be checked before a point is
 * known. A system may be a folder with ASTRA-sim's system.json and network.yml, a model a Hugging Face
 * config.json. `settings` (NULL: none) are set over the cards; DSE_E_CONFIG if neither has one's path. */
dse_status drv_study_load(const char *model, const char *system, const cfg_settings *settings, dse_arena *a,
                          drv_study *out, dse_error *err);

/* The same, but the model may lack what drv_study_vary is to give: until then the study is good for nothing
 * else. */
dse_status drv_study_load_part(const char *model, const char *system, const cfg_settings *settings,
                               dse_arena *a, drv_study *out, dse_error *err);

/* The study of a model card that is not a file's, on a system that has been read. `settings` (NULL: none) are
 * set over the model; those of the system have been set over it. Names and the document are borrowed. */
dse_status drv_study_of(const cfg_doc *model, const char *model_name, const card_system *system,
                        const char *system_name, const cfg_settings *settings, dse_arena *a, drv_study *out,
                        dse_error *err);

/* The operator file that the model of the study names, into operators and operators_hash; a generator of
 * another file is left behind. */
dse_status drv_study_load_operators(drv_study *s, dse_arena *a, dse_error *err);

/* A system by name or path, and its name without folder and extension. Settings that are not a system's are
 * passed over. */
dse_status drv_system_load(const char *name, const cfg_settings *settings, dse_arena *a, card_system *out,
                           const char **stem, dse_error *err);

/* The settings of a text such as "batch=256 layers=4", which may be empty, and others, in their order;
 * appended to out. */
void drv_settings_print(const char *before, const cfg_settings *more, dse_strbuf *out);

/* Whether setting `path` takes away what `other` sets: cfg_path_covers, and collectives.all covers each
 * list. */
bool drv_path_covers(const char *path, const char *other);

/* A path that no card has would change nothing: DSE_E_CONFIG, with the nearest that one has. */
dse_status drv_path_check(const char *path, dse_error *err);

/* The key of a card, or the other word, that is nearest to a path, its index aside; NULL if none is near. */
const char *drv_nearest_key(const char *path, const char *const *also, size_t n_also);

/* "path=value" words, as of the command line, into settings. Of words that set the same the last one holds;
 * one that sets a whole list takes the place of what was said of its elements before. DSE_E_USAGE. */
dse_status drv_settings_parse(const char *const *words, size_t n, dse_arena *a, cfg_settings *out,
                              dse_error *err);

/* A copy of a study with more set over it, complete by that. DSE_E_CONFIG also for a path that covers one of
 * the study's own settings, and if the model still lacks something. */
dse_status drv_study_vary(const drv_study *s, const cfg_settings *settings, dse_arena *a, drv_study *out,
                          dse_error *err);

/* The resolved configuration; point NULL: of the study. Appended to out. */
void drv_study_write_config(const drv_study *s, const strategy *point, dse_strbuf *out);

/* Makes the resolved configuration of a study, which is the last in the buffer, that of a point: what is
 * before its last character stays as it is. */
void drv_config_add_point(const strategy *point, dse_strbuf *config);

/* A request to a worker: the resolved configuration of a study, the control character RS, and a point, as
 * drv_point_write_json writes it; appended to out. */
void drv_study_write_request(const dse_strbuf *study, const strategy *point, dse_strbuf *out);

/* The configuration of another point of the study of `config`, which has a point as its last value; appended
 * to out. False if `config` is no such text: an imported result has none. */
bool drv_config_of_point(const char *config, const strategy *point, dse_strbuf *out);

/* The reverse: a study and a point from such a text. */
dse_status drv_study_read_config(const char *text, size_t n, dse_arena *a, drv_study *out, strategy *point,
                                 dse_error *err);

/* Reads such texts, or requests, one after another; of a request whose study is the same as before, only the
 * point is read. The operators stay while their name and hash do, and with them their generator, which each
 * study gets: then their file is not looked at again, and may be gone. So does each the keeper of orders, and
 * each table of kernels that was read. */
typedef struct {
    dse_arena study_arena, operators_arena, tables_arena;
    dse_strbuf text; /* of the study that is kept; empty: none is */
    drv_study study;
    cfg_doc operators; /* that are kept, and of which file */
    uint64_t operators_hash;
    cfg_name operators_name;
    wl_generator *generator; /* of them; NULL: none are kept */
    sched_keeper *orders;
    card_tables tables;
} drv_study_reader;

void drv_study_reader_init(drv_study_reader *r);
void drv_study_reader_free(drv_study_reader *r);

/* The study and point of a configuration, and the errors, are those of drv_study_read_config; but for the
 * generator. *out is good until the next call or until the arena is reset. */
dse_status drv_study_reader_read(drv_study_reader *r, const char *text, size_t n, dse_arena *a,
                                 drv_study *out, strategy *point, dse_error *err);

/* {"dp":8,...}, as it stands in such a text. */
void drv_point_write_json(const strategy *p, dse_json *j);

/* What a ranking needs to know of the system of such a text. An imported result came without a system:
 * nothing is known. */
typedef struct {
    double hbm_bytes; /* the memory of an NPU; NaN: not known */
    const char
        *laws; /* how the kernels of profile train last, as card_system_say_laws has it; NULL: not known */
    bool has_congestion; /* links have a load */
} drv_machine;

/* Unlike a whole study it needs no operator file, which may be gone by now. */
dse_status drv_study_machine(const char *text, dse_arena *a, drv_machine *out, dse_error *err);

/* Refuses a study of profile train, of which only profile stage makes a workload: `what` needs that.
 * DSE_E_CONFIG. */
dse_status drv_need_workload(const drv_study *s, const char *what, dse_error *err);

/* What the generator is asked for. */
wl_strategy drv_point_request(const drv_study *s, const strategy *p);

/* The workload of a point. With a generator it is good until that makes the next one. DSE_E_CONFIG also for a
 * study of profile train, which has none. */
dse_status drv_point_generate(const drv_study *s, const strategy *p, dse_arena *a, wl_workload *out,
                              dse_error *err);

/* Simulates a workload of the study's system. `record` may be NULL. */
dse_status drv_point_simulate(const drv_study *s, const wl_workload *w, dse_arena *a, sim_result *out,
                              trace_ticks *record, dse_error *err);

/* Both, of one point, and what is stored of it. */
dse_status drv_point_run(const drv_study *s, const strategy *p, dse_arena *a, store_metrics *out,
                         dse_error *err);

/* Degrees that do not fit the system or the model, before anything is generated. */
dse_status drv_point_check(const drv_study *s, const strategy *p, dse_error *err);

/* What is stored of a point's generated workload and its result. Text in *out is theirs. */
void drv_metrics_of(const wl_workload *w, const sim_result *r, store_metrics *out);

/* What the memory of its results counts. */
store_sizes drv_sizes_of(const card_model *m);

#endif
