/* A plan on a machine: as many of its NPUs as the job has devices. */
#include "base/array.h"
#include "cards/resize.h"
#include "measured/plan_parts.h"

#include <inttypes.h>
#include <string.h>

/* Whether both are known, and are not the same. */
static bool is_other_device(const msr_job *job, const card_system *machine)
{
    char one[160], other[160];

    if (!job->device || !*machine->device)
        return false;
    msr_device_form(job->device, one, sizeof one);
    msr_device_form(machine->device, other, sizeof other);
    return strcmp(one, other) != 0;
}

/* The size of the nodes does not affect a job within one node. */
static bool has_other_nodes(const msr_job *job, const card_system *machine)
{
    return MSR_GIVEN(job->devices_per_node) && machine->npus_count.n && MSR_GIVEN(job->n_devices) &&
           job->devices_per_node != machine->npus_count.v[0] && job->n_devices > job->devices_per_node;
}

/* "B200 (power limited)": words behind a device's name that are not another name of it. */
static void say_remark(msr_plan *p, dse_arena *a)
{
    const char *bracket = p->job->device ? strchr(p->job->device, '(') : NULL;
    char whole[160], inner[160];

    if (!bracket)
        return;
    msr_device_form(p->job->device, whole, sizeof whole);
    msr_device_form(bracket, inner, sizeof inner);
    if (strcmp(whole, inner) != 0)
        msr_plan_assume(p, a, "the source says: %.*s; not modelled", (int)strcspn(bracket + 1, ")"),
                        bracket + 1);
}

/* Settings go over what the source says: then another step is simulated than was measured. */
static void say_other_work(msr_plan *p, const card_model *m, dse_arena *a)
{
    const struct {
        const char *key;
        int64_t simulated, measured;
    } work[] = {{"batch", m->batch, p->job->batch}, {"sequence", m->sequence, p->job->sequence}};

    for (size_t i = 0; i < DSE_COUNT(work); i++)
        if (work[i].simulated != work[i].measured)
            msr_plan_assume(p, a, "%s %" PRId64 " is set: the source says %" PRId64, work[i].key,
                            work[i].simulated, work[i].measured);
}

/* DeepSpeed's partition_method of Megatron-DeepSpeed, which counts each of the two embeddings as a layer. */
static const char with_embeddings[] = "type:transformer|embedding";

/* The layers of stages. What counts embeddings as layers is the division that the step has of layers that do
 * not divide; else the source says of such a pipeline how many stages it has, and not what each of them
 * holds. */
static void settle_stages(msr_plan *p, const card_model *m, dse_arena *a)
{
    const int64_t stages = (int64_t)p->point.pp * p->point.vp;
    const char *partition = p->point.pp > 1 ? p->job->partition : NULL;
    const bool counts = partition && !strncmp(partition, with_embeddings, sizeof with_embeddings - 1),
               is_uniform = partition && !strcmp(partition, "uniform");

    if (*m->pipeline_layout)
        return;
    if (partition &&
        !((counts && (m->layers + 2) % stages == 0) || (is_uniform && m->layers % stages == 0))) {
        p->can_run = false;
        msr_plan_gap(p, MSR_GAP_UNKNOWN_FACT, a,
                     "what the pipeline's partition '%.60s' makes of %" PRId64 " layers in %" PRId64
                     " stages",
                     partition, m->layers, stages);
    } else if (m->layers % stages) {
        msr_plan_assume(
            p, a, "%s in the first and in the last of %" PRId64 " stages, %s",
            (m->layers + 2) % stages ? "fewer layers" : "one layer fewer", stages,
            counts ? "as the source's partition counts each embedding as a layer"
                   : dse_arena_printf(a, "as %" PRId64 " layers do not divide: the source does not say",
                                      m->layers));
    }
}

/* What the step refuses is the run's alone. */
static dse_status check_step(msr_plan *p, const drv_study *s, dse_arena *a, dse_error *err)
{
    dse_error why = DSE_ERROR_INIT;
    dse_status st = drv_point_check(s, &p->point, &why);

    if (st == DSE_OK) {
        settle_stages(p, &s->model, a);
        return DSE_OK;
    }
    if (st != DSE_E_RANGE)
        return dse_fail_at(err, st, why.where, "%s", why.text);
    p->can_run = false;
    msr_plan_gap(p, MSR_GAP_REFUSED, a, "%s", why.text);
    return DSE_OK;
}

dse_status msr_plan_study(msr_plan *p, const card_system *machine, const char *machine_name,
                          const msr_plan_options *o, dse_arena *a, drv_study *out, dse_error *err)
{
    card_system whole = *machine, part;
    dse_error why = DSE_ERROR_INIT;
    dse_status st;

    if (is_other_device(p->job, machine)) {
        p->can_run = false;
        msr_plan_gap(p, MSR_GAP_OTHER_DEVICE, a, "measured on '%.80s'; %s has '%.80s'", p->job->device,
                     machine_name, machine->device);
        return DSE_OK;
    }
    if (!p->job->device)
        msr_plan_assume(p, a, "the device is that of %s: the source does not say", machine_name);
    say_remark(p, a);
    if (has_other_nodes(p->job, machine))
        msr_plan_assume(p, a, "nodes of %" PRId64 " devices, as %s has; the run had nodes of %" PRId64,
                        machine->npus_count.v[0], machine_name, p->job->devices_per_node);
    if (o->settings && card_system_has_any(o->settings) &&
        (st = card_system_set(&whole, o->settings, err)) != DSE_OK)
        return st;
    if ((st = card_system_resize(&whole, strategy_ranks(&p->point), &part, &why)) != DSE_OK)
        return dse_fail_at(err, st == DSE_E_CONFIG ? DSE_E_RANGE : st, why.where, "%s", why.text);
    if ((st = drv_study_of(&p->model, p->model_name, &part, machine_name, o->settings, a, out, err)) !=
        DSE_OK)
        return st;
    say_other_work(p, &out->model, a);
    return p->trains ? check_step(p, out, a, err) : DSE_OK;
}
