/* Tables of measured runs: every form and spelling, what follows from a row, every refusal with its place; and the tables that
 * ship. */
#include "measured/job.h"
#include "unit/unit.h"

#define NONE MSR_JOB_NONE

static dse_arena arena;
static dse_error err;
static msr_job *jobs;
static size_t n_jobs;

static dse_status parse_only(const char *text, const char *const *only, size_t n_only)
{
    dse_arena_reset(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    jobs = NULL;
    n_jobs = 0;
    return msr_jobs_parse("m.json", text, strlen(text), only, n_only, &arena, &jobs, &n_jobs, &err);
}

static dse_status parse(const char *text) { return parse_only(text, NULL, 0); }

/* A table of one row with these fields. */
static const msr_job *row(const char *fields)
{
    static char text[2048];
    dse_status st;

    snprintf(text, sizeof text, "{\"rows\":[{%s}]}", fields);
    st = parse(text);
    assert_ok(st, &err);
    assert_int_equal(n_jobs, 1);
    return jobs;
}

/* The row with these fields is refused. */
static void refuse_row(const char *fields, const char *message)
{
    static char text[2048];
    dse_status st;

    snprintf(text, sizeof text, "{\"rows\":[{\"id\":\"a\"},{\"id\":\"b\",%s}]}", fields);
    st = parse(text);
    assert_failure(st, &err, DSE_E_CONFIG, "m.json: row 2 ('b')", message);
    assert_null(jobs);
}

static void refuse(const char *text, const char *place, const char *message)
{
    dse_status st = parse(text);

    assert_failure(st, &err, DSE_E_CONFIG, place, message);
}

/* ---- forms --------------------------------------------------------------------------------- */

CLAIM(a_row_says_what_it_says_and_nothing_else)
{
    const msr_job *j = row("\"id\":\"x\",\"layers\":4,\"tp\":2,\"step_time_s\":1.25");

    assert_string_equal(j->name, "x");
    assert_string_equal(j->where, "m.json: row 1 ('x')");
    assert_true(j->layers == 4 && j->tp == 2);
    assert_double(j->step_time_s, 1.25);
    assert_null(j->not_measured);
    assert_true(j->pp == NONE && j->dp == NONE && j->batch == NONE && j->heads == NONE &&
                j->zero_stage == NONE);
    assert_true(j->recompute == MSR_RECOMPUTE_UNKNOWN && j->phase == TRACE_PHASE_UNKNOWN);
    assert_null(j->device);
    assert_null(j->family);
    assert_double(j->peak_memory_bytes, NAN);
    assert_true(j->cp == 1 && j->ep == 1); /* the format's defaults */
}

CLAIM(rows_may_be_lists_with_columns)
{
    assert_ok(parse("{\"columns\":[\"tp\",\"step_time_ms\"],\"rows\":[[1,10],[2,20]]}"), &err);
    assert_int_equal(n_jobs, 2);
    assert_true(jobs[1].tp == 2);
    assert_double(jobs[1].step_time_s, 20 * 1e-3);
    assert_string_equal(jobs[1].where, "m.json: row 2");
}

/* A null in a row says that the source of the row does not state it. */
CLAIM(common_fields_hold_unless_the_row_speaks)
{
    assert_ok(parse("{\"common\":{\"seq_len\":8,\"model\":{\"layers\":3},\"gpu\":\"A100\"},\"rows\":["
                    "{},{\"seq_len\":16,\"layers\":5},{\"sequence\":null}]}"),
              &err);
    assert_true(jobs[0].sequence == 8 && jobs[0].layers == 3);
    assert_string_equal(jobs[0].device, "A100");
    assert_true(jobs[1].sequence == 16 && jobs[1].layers == 5);
    assert_true(jobs[2].sequence == NONE && jobs[2].layers == 3);
}

/* Published tables nest: model, hardware, the flattened card. */
CLAIM(sections_are_looked_into)
{
    const msr_job *j =
        row("\"model\":{\"name\":\"m\",\"hidden\":64,\"heads\":4,\"vocab\":100},"
            "\"hardware\":{\"gpu\":\"H100\",\"gpus_per_node\":8,\"system\":\"S\"},\"n_gpus\":16");

    assert_string_equal(j->family, "m");
    assert_true(j->d_model == 64 && j->heads == 4 && j->vocabulary == 100);
    assert_string_equal(j->device, "H100");
    assert_string_equal(j->machine, "S");
    assert_true(j->devices_per_node == 8 && j->n_devices == 16);
}

/* benchmark_data.json of CCL-Bench: metadata is a workload card flattened, "" is an unset field. */
CLAIM(a_leaderboard_is_a_table)
{
    assert_ok(
        parse("{\"metric_info\":{\"avg_step_time\":{\"unit\":\"ms\"}},\"rows\":[{\"trace\":\"t\","
              "\"metadata\":{\"model_family\":\"f\",\"phase\":\"training\",\"batch_size\":8,\"seq_len\":16,"
              "\"hardware_model\":\"tpu_v6e\",\"total_count\":4,\"tp\":1,\"pp\":1,\"pp_mb\":\"\","
              "\"dp_replicate\":2,\"dp_shard\":2,\"ep\":\"\",\"cp\":1,\"moe\":false},"
              "\"metrics\":{\"avg_step_time\":500}}]}"),
        &err);
    assert_string_equal(jobs->name, "t");
    assert_string_equal(jobs->family, "f");
    assert_true(jobs->phase == TRACE_PHASE_TRAINING && jobs->moe == 0);
    assert_true(jobs->dp == 4 && jobs->dp_replicate == 2 && jobs->dp_shard == 2 && jobs->n_devices == 4);
    assert_true(jobs->batch == 8 && jobs->sequence == 16 && jobs->micro_batches == NONE);
    assert_double(jobs->step_time_s, 500 * 1e-3);
}

/* ---- units --------------------------------------------------------------------------------- */

CLAIM(a_time_takes_its_unit_from_its_key_its_text_or_the_table)
{
    assert_double(row("\"step_time_s\":3")->step_time_s, 3);
    assert_double(row("\"step_time_ms\":3")->step_time_s, 3 * 1e-3);
    assert_double(row("\"step_time_us\":3")->step_time_s, 3 * 1e-6);
    assert_double(row("\"iteration_time_min\":2")->step_time_s, 120);
    assert_double(row("\"step_time\":\"1.5 s\"")->step_time_s, 1.5);
    assert_double(row("\"step_time\":\"250ms\"")->step_time_s, 0.25);
    assert_double(row("\"measured\":{\"avg_step_time\":2}")->step_time_s, 2);
    assert_ok(parse("{\"units\":{\"step_time\":\"ms\"},\"rows\":[{\"step_time\":4}]}"), &err);
    assert_double(jobs->step_time_s, 4 * 1e-3);
}

CLAIM(so_does_a_size)
{
    assert_double(row("\"peak_memory_bytes\":7")->peak_memory_bytes, 7);
    assert_double(row("\"memory_gib\":2")->peak_memory_bytes, 2147483648.0);
    assert_double(row("\"memory_gb\":2")->peak_memory_bytes, 2e9);
    assert_double(row("\"peak_memory\":\"40 GiB\"")->peak_memory_bytes, 42949672960.0);
    /* The peak of the phases of the ranks, and a sum of parts. */
    assert_double(
        row("\"memory_gib\":[{\"phases\":{\"a\":{\"phase_peak_gib\":1},\"b\":{\"phase_peak_gib\":3}}},"
            "{\"phases\":{\"a\":{\"phase_peak_gib\":2}}}]")
            ->peak_memory_bytes,
        3221225472.0);
    assert_double(row("\"params_and_optimizer_gib\":1,\"activations_gib\":0.5")->peak_memory_bytes,
                  1610612736.0);
}

CLAIM(an_unknown_unit_is_refused_with_those_known)
{
    refuse_row("\"step_time_fortnights\":1",
               "step_time_fortnights: unknown unit 'fortnights'; known: s, ms, us, ns, min, h");
    refuse_row("\"measured\":{\"step_time_days\":1}",
               "step_time_days: unknown unit 'days'; known: s, ms, us, ns, min, h");
    refuse_row("\"memory_pages\":1",
               "memory_pages: unknown unit 'pages'; known: bytes, kb, kib, mb, mib, gb, gib, tb, tib");
    refuse_row(
        "\"step_time\":1",
        "step_time has no unit; write 'step_time_s', or name it in 'units'; known: s, ms, us, ns, min, h");
    refuse_row("\"step_time\":\"2 weeks\"",
               "step_time must be a time greater than 0 with its unit, as '1.5 s', not '2 weeks'");
    refuse("{\"units\":{\"step_time\":\"days\"},\"rows\":[{\"step_time\":4}]}", "m.json: row 1",
           "step_time is in 'days', an unknown unit; known: s, ms, us, ns, min, h");
    refuse("{\"metric_definitions\":{\"avg_step_time\":{\"unit\":\"ticks\"}},\"rows\":[{\"metrics\":"
           "{\"avg_step_time\":1}}]}",
           "m.json: row 1",
           "metrics.avg_step_time is in 'ticks', an unknown unit; known: s, ms, us, ns, min, h");
}

CLAIM(a_key_and_the_table_must_agree_on_a_unit)
{
    assert_ok(parse("{\"units\":{\"step_time_ms\":\"ms\"},\"rows\":[{\"step_time_ms\":4}]}"), &err);
    refuse("{\"units\":{\"step_time_s\":\"ms\"},\"rows\":[{\"step_time_s\":4}]}", "m.json: row 1",
           "step_time_s ends in 's', and the table says 'ms'; change one");
}

/* Remarks beside a time are no times. */
CLAIM(other_keys_are_passed_over)
{
    const msr_job *j =
        row("\"step_time_s\":1,\"step_time_note\":\"by hand\",\"step_time_stats_ms\":{\"n\":3},"
            "\"activations_pct_of_all\":3,\"colour\":[1]");

    assert_double(j->step_time_s, 1);
}

/* ---- types --------------------------------------------------------------------------------- */

CLAIM(a_wrong_type_is_refused)
{
    refuse_row("\"tp\":\"2\"", "tp must be a whole number of at least 1, not '2'");
    refuse_row("\"tp\":0", "tp must be a whole number of at least 1, not '0'");
    refuse_row("\"tp\":1.5", "tp must be a whole number of at least 1, not '1.5'");
    refuse_row("\"config\":{\"tp\":[]}", "config.tp must be a whole number of at least 1, not a list");
    refuse_row("\"step_time_s\":-1", "step_time_s must be a number greater than 0, not '-1'");
    refuse_row("\"step_time_s\":true", "step_time_s must be a number greater than 0, not 'true'");
    refuse_row("\"step_time_s\":[1]", "step_time_s must be a number greater than 0, not a list");
    refuse_row("\"float8\":1", "float8 must be true or false, not '1'");
    refuse_row("\"recompute\":1", "recompute must be a text, or true or false, not '1'");
    refuse_row("\"gpu\":{}", "gpu must be a text, not a mapping");
    refuse_row("\"ffn\":\"wide\"", "ffn must be a whole number, or as '4 x hidden', not 'wide'");
    refuse_row("\"phase\":\"rest\"", "phase must be training, inference or serving, not 'rest'");
}

CLAIM(what_is_not_stated_is_absent)
{
    assert_true(row("\"tp\":null")->tp == NONE);
    assert_true(row("\"tp\":\"N/A\"")->tp == NONE);
    assert_null(row("\"gpu\":\"not stated\"")->device);
    /* Whose value its own table disowns. */
    assert_true(row("\"batch_size\":4,\"batch_size_note\":\"per rank or global is not stated\"")->batch ==
                NONE);
    assert_true(row("\"batch_size\":4,\"batch_size_note\":\"1 * 4\"")->batch == 4);
}

CLAIM(spellings_that_disagree_are_refused)
{
    assert_true(row("\"n_gpus\":8,\"config\":{\"total_count\":8}")->n_devices == 8);
    assert_double(row("\"step_time_s\":0.5,\"step_time_ms\":500")->step_time_s, 0.5);
    assert_string_equal(row("\"gpu\":\"A100\",\"hardware\":{\"gpu\":\"a-100\"}")->device, "A100");
    refuse_row("\"n_gpus\":8,\"config\":{\"total_count\":4}",
               "n_gpus is 8 and config.total_count is 4; they say the same thing, leave one out");
    refuse_row("\"step_time_s\":0.5,\"step_time_ms\":50",
               "step_time_s is 0.5 and step_time_ms is 0.05; they say the same thing, leave one out");
    refuse_row("\"gpu\":\"A100\",\"hardware\":{\"gpu\":\"H100\"}",
               "gpu is A100 and hardware.gpu is H100; they say the same thing, leave one out");
    refuse_row("\"phase\":\"serving\",\"config\":{\"phase\":\"training\"}",
               "phase is inference and config.phase is training; they say the same thing, leave one out");
}

/* ---- what follows -------------------------------------------------------------------------- */

static void assert_recompute(const char *fields, msr_recompute expected)
{
    assert_int_equal(row(fields)->recompute, expected);
}

CLAIM(words_of_recomputation_are_known_or_nothing_is)
{
    assert_recompute("\"recompute\":\"full\"", MSR_RECOMPUTE_FULL);
    assert_recompute("\"recompute\":\"full activation checkpointing\"", MSR_RECOMPUTE_FULL);
    assert_recompute("\"recompute\":\"attn_only\"", MSR_RECOMPUTE_SELECTIVE);
    assert_recompute("\"recompute\":\"per-op selective activation checkpointing\"", MSR_RECOMPUTE_SELECTIVE);
    assert_recompute("\"recompute\":\"none\"", MSR_RECOMPUTE_NONE);
    assert_recompute("\"recompute\":\"activation checkpointing off (why not)\"", MSR_RECOMPUTE_NONE);
    assert_recompute("\"recompute\":\"not stated (config default)\"", MSR_RECOMPUTE_UNKNOWN);
    assert_recompute("\"recompute\":\"not full\"", MSR_RECOMPUTE_UNKNOWN);
    assert_recompute("\"recompute\":\"every second layer\"", MSR_RECOMPUTE_UNKNOWN);
    /* Of what "on" does, the framework decides. */
    assert_recompute("\"recompute\":\"activation checkpointing on\"", MSR_RECOMPUTE_UNKNOWN);
    assert_recompute("\"recompute\":\"activation checkpointing on\",\"framework\":\"Megatron-DeepSpeed (x)\"",
                     MSR_RECOMPUTE_FULL);
    assert_recompute("\"activation_checkpointing\":true,\"framework\":\"megatron-lm\"",
                     MSR_RECOMPUTE_SELECTIVE);
    assert_recompute("\"activation_checkpointing\":false,\"framework\":\"megatron-lm\"", MSR_RECOMPUTE_NONE);
    assert_recompute("\"activation_checkpointing\":true,\"framework_note\":\"torchtitan (says the card)\","
                     "\"framework\":\"torchrun\"",
                     MSR_RECOMPUTE_FULL);
    assert_recompute("\"activation_checkpointing\":false,\"framework\":\"torchtitan-0.1.0\"",
                     MSR_RECOMPUTE_SELECTIVE);
    assert_recompute("\"activation_checkpointing\":true,\"framework\":\"other\"", MSR_RECOMPUTE_UNKNOWN);
}

static void assert_dp(const char *fields, int64_t dp, int64_t replicate, int64_t shard)
{
    const msr_job *j = row(fields);

    assert_true(j->dp == dp && j->dp_replicate == replicate && j->dp_shard == shard);
}

CLAIM(the_framework_says_whether_dp_shards_weights)
{
    assert_dp("\"dp\":8,\"framework\":\"torchtitan\"", 8, 1, 8);
    assert_dp("\"dp\":8,\"framework\":\"Megatron-LM\"", 8, 8, 1);
    assert_dp("\"dp\":8,\"source\":{\"repository\":\"NVIDIA/Megatron-LM\"}", 8, 8, 1);
    assert_dp("\"dp\":8,\"zero_stage\":3", 8, 1, 8);
    assert_dp("\"dp\":8,\"zero_stage\":1", 8, 8, 1);
    assert_dp("\"dp\":8,\"optimizer_sharding\":true", 8, 8, 1);
    assert_dp("\"dp\":8", 8, NONE, NONE); /* nobody says */
    assert_dp("\"dp\":1", 1, 1, 1);
    assert_dp("\"fsdp\":4,\"n_gpus\":16,\"tp\":2,\"pp\":1", 8, 2, 4); /* 16 / (2 * 1 * 1) = 8 = 2 * 4 */
    assert_dp("\"n_gpus\":16,\"tp\":2,\"pp\":2,\"framework\":\"megatron\"", 4, 4, 1);
    assert_int_equal(row("\"optimizer_sharding\":true,\"dp\":2")->zero_stage, 1);
    refuse_row("\"dp\":8,\"dp_replicate\":2,\"dp_shard\":2",
               "dp is 8, but dp_replicate * dp_shard is 4; correct one, or leave it out");
    refuse_row("\"dp\":6,\"fsdp\":4",
               "dp_shard is 4, but dp, which it does not divide, is 6; correct one, or leave it out");
}

CLAIM(batches_follow_from_their_parts)
{
    const msr_job *j = row("\"dp\":2,\"micro_batch\":3,\"global_batch\":24");

    assert_true(j->micro_batches == 4); /* 24 / (2 * 3) */
    j = row("\"dp\":2,\"micro_batch\":3,\"gradient_accumulation_steps\":4");
    assert_true(j->batch == 24 && j->micro_batches == 4);
    j = row("\"fsdp\":4,\"n_gpus\":4,\"tp\":1,\"pp\":1,\"local_batch\":2");
    assert_true(j->batch == 8);
    /* TorchTitan's micro-batch counts in a pipeline alone: without one a rank does 8 / 2 at once. */
    j = row("\"dp\":2,\"tp\":1,\"pp\":1,\"micro_batch\":1,\"global_batch\":8,\"framework\":\"torchtitan\"");
    assert_true(j->micro_batches == 1 && j->micro_batch == 4);
    j = row("\"dp\":2,\"tp\":1,\"pp\":2,\"micro_batch\":1,\"global_batch\":8,\"framework\":\"torchtitan\"");
    assert_true(j->micro_batches == 4 && j->micro_batch == 1);
    refuse_row("\"dp\":2,\"micro_batch\":3,\"global_batch\":20",
               "global_batch, 20, is no multiple of micro_batch * dp, 3 * 2; correct one of them");
    refuse_row("\"dp\":2,\"local_batch\":3,\"global_batch\":20",
               "global_batch is 20, but local_batch * dp is 6; correct one, or leave it out");
    refuse_row("\"dp\":2,\"micro_batch\":3,\"micro_batches\":2,\"global_batch\":24",
               "the batch is 24, but micro_batch * micro_batches * dp is 12; correct one, or leave it out");
    /* What failed may have failed by that. */
    assert_true(row("\"status\":\"error\",\"dp\":2,\"micro_batch\":3,\"global_batch\":20")->micro_batches ==
                NONE);
}

/* 16 sequences of 1000 tokens on 8 devices of 400 tokens/s: 16000 / 3200 s. */
CLAIM(a_rate_of_tokens_is_a_time)
{
    static const char work[] = "\"global_batch\":16,\"seq_len\":1000,\"n_gpus\":8,\"tp\":1,\"pp\":1,";
    char text[256];

    snprintf(text, sizeof text, "%s\"tokens_per_s_per_gpu\":400", work);
    assert_double(row(text)->step_time_s, 5);
    snprintf(text, sizeof text, "%s\"tokens_per_s_total\":3200", work);
    assert_double(row(text)->step_time_s, 5);
    snprintf(text, sizeof text, "%s\"tokens_per_s\":3200", work);
    assert_double(row(text)->step_time_s, NAN);
    assert_string_equal(jobs->not_measured, "a rate of tokens, of the job or of a device is not said");
    assert_string_equal(row("\"tokens_per_s_per_gpu\":1")->not_measured,
                        "a rate of tokens, but no sequence length");
    assert_string_equal(row("\"tokens_per_s_per_gpu\":1,\"seq_len\":1")->not_measured,
                        "a rate of tokens, but no batch");
}

CLAIM(what_was_not_measured_says_why)
{
    assert_string_equal(row("\"status\":\"error\",\"step_time_s\":null")->not_measured,
                        "failed: status 'error'");
    assert_string_equal(row("\"status\":\"success\"")->not_measured, "no step time");
    assert_string_equal(row("\"quantity\":\"memory_per_gpu\"")->not_measured,
                        "no step time, but 'memory_per_gpu'");
    assert_string_equal(row("\"repeat_of\":\"x#7\",\"step_time_s\":1")->not_measured,
                        "the same number as that of 'x#7', which counts once");
    assert_double(jobs->step_time_s, NAN);
    assert_null(row("\"repeat_of\":null,\"status\":\"success\",\"step_time_s\":1")->not_measured);
}

CLAIM(widths_experts_and_8_bits_follow)
{
    assert_true(row("\"hidden\":10,\"ffn\":\"4 x hidden (GPT)\"")->d_ff == 40);
    assert_true(row("\"model\":{\"experts\":64}")->moe == 1);
    assert_true(row("\"quantization\":\"float8 rowwise\"")->float8 == 1);
    assert_true(row("\"quantization\":\"None (bfloat16)\"")->float8 == 0);
    assert_double(row("\"params_billion\":2.5")->num_params, 2.5e9);
}

CLAIM(a_row_without_a_name_gets_one_of_its_degrees)
{
    assert_string_equal(row("\"model\":\"M 8B\",\"dp\":2,\"tp\":4,\"pp\":1,\"global_batch\":8")->name,
                        "M 8B/dp2_tp4_pp1_b8");
    assert_string_equal(row("\"layers\":3,\"hidden\":64,\"tp\":4,\"cp\":2")->name, "3x64/tp4_cp2");
}

/* ---- which rows ---------------------------------------------------------------------------- */

#define TABLE                                                                                                \
    "{\"common\":{\"gpu\":\"A100\"},\"rows\":[{\"id\":\"a\",\"pp\":1,\"model\":{\"name\":\"m\"}},"           \
    "{\"id\":\"b\",\"pp\":2,\"model\":{\"name\":\"m\"}},{\"id\":\"c\",\"pp\":1,\"model\":{\"name\":\"n\"}}]" \
    "}"

CLAIM(the_nearest_word_says_what_a_row_is)
{
    assert_null(row("\"model\":{\"kind\":\"moe\"}")->kind); /* of a model is another thing */
    assert_ok(parse("{\"kind\":\"measured\",\"common\":{\"kind\":\"computed\"},"
                    "\"rows\":[{},{\"kind\":\"predicted\"},{\"kind\":null}]}"),
              &err);
    assert_string_equal(jobs[0].kind, "computed");
    assert_string_equal(jobs[1].kind, "predicted");
    assert_null(jobs[2].kind); /* nor does the table speak for a row whose kind is not known */
    assert_ok(parse("{\"kind\":\"measured\",\"rows\":[{}]}"), &err);
    assert_string_equal(jobs->kind, "measured");
    refuse_row("\"kind\":1", "kind must be a text, as 'measured', not '1'");
}

CLAIM(what_is_predicted_is_no_measurement)
{
    assert_null(msr_job_unmeasured(row("\"kind\":\"measured\""), true, &arena));
    assert_string_equal(msr_job_unmeasured(row("\"kind\":\"predicted\""), false, &arena),
                        "its kind is 'predicted', which is no measurement");
    assert_null(msr_job_unmeasured(row("\"id\":\"a\""), false, &arena));
    assert_non_null(msr_job_unmeasured(row("\"id\":\"a\""), true, &arena));
}

CLAIM(words_select_rows)
{
    const char *const pp[] = {"pp=1"}, *const both[] = {"pp=1", "model.name=n"}, *const all[] = {"gpu=A100"};

    assert_ok(parse_only(TABLE, pp, 1), &err);
    assert_int_equal(n_jobs, 2);
    assert_string_equal(jobs[1].where, "m.json: row 3 ('c')");
    assert_ok(parse_only(TABLE, both, 2), &err);
    assert_int_equal(n_jobs, 1);
    assert_string_equal(jobs->name, "c");
    assert_ok(parse_only(TABLE, all, 1), &err);
    assert_int_equal(n_jobs, 3);
}

CLAIM(what_selects_nothing_is_refused)
{
    const char *const value[] = {"pp=3"}, *const key[] = {"ppp=1"}, *const strange[] = {"pp=1", "colour=1"};
    const char *const word[] = {"pp"};
    dse_status st = parse_only(TABLE, value, 1);

    assert_failure(st, &err, DSE_E_CONFIG, "m.json", "no row has all of what selects them, first 'pp=3'");
    st = parse_only(TABLE, key, 1);
    assert_failure(st, &err, DSE_E_CONFIG, "m.json", "no row has 'ppp'; did you mean 'pp'?");
    st = parse_only(TABLE, strange, 2);
    assert_failure(st, &err, DSE_E_CONFIG, "m.json", "no row has 'colour'");
    st = parse_only(TABLE, word, 1);
    assert_failure(st, &err, DSE_E_USAGE, "", "'pp' selects no rows; write KEY=VALUE, as 'pp=1'");
}

/* A row that is not selected is not looked at. */
CLAIM(rows_left_out_may_be_wrong)
{
    const char *const pp[] = {"pp=1"};

    assert_ok(parse_only("{\"rows\":[{\"pp\":1},{\"pp\":2,\"tp\":\"x\"}]}", pp, 1), &err);
    assert_int_equal(n_jobs, 1);
}

/* A millionth of a ns, and a millennium; 8 * 1024 tokens of a step at 1e15 a second are 8 ps. */
CLAIM(a_step_that_nothing_can_take_is_of_a_wrong_unit)
{
    refuse_row("\"step_time_ns\":1e-6",
               "the step takes 1e-15 s, and what can be compared is between 1e-09 and "
               "1e+09 s; check the unit");
    refuse_row("\"step_time_s\":3.2e10",
               "the step takes 3.2e+10 s, and what can be compared is between 1e-09 "
               "and 1e+09 s; check the unit");
    refuse_row("\"global_batch\":8,\"sequence\":1024,\"tokens_per_s_total\":1e15",
               "the step takes 8.192e-12 s, and what can be compared is between 1e-09 and 1e+09 s; check the "
               "unit");
}

CLAIM(a_file_that_is_no_table_is_refused)
{
    dse_status st;

    refuse("{\"row\":[]}", "m.json", "this is no table of measured runs: it is to be an object with 'rows'");
    refuse("[1]", "m.json", "this is no table of measured runs: it is to be an object with 'rows'");
    refuse("{\"rows\":{}}", "m.json:1:9", "'rows' must be a list of rows, not a mapping");
    refuse("{\"rows\":[]}", "m.json", "the table has no rows");
    refuse("{\"rows\":[1]}", "m.json: row 1",
           "a row must be an object, or a list if 'columns' names its fields, not '1'");
    refuse("{\"rows\":[[1]]}", "m.json: row 1",
           "a row must be an object, or a list if 'columns' names its fields, not a list");
    refuse("{\"columns\":[\"tp\",\"pp\"],\"rows\":[[1,1],[1]]}", "m.json: row 2",
           "the row has 1 values, and there are 2 columns");
    refuse("{\"columns\":[\"tp\",\"pp\",\"tp\"],\"rows\":[[1,1,2]]}", "m.json:1:23",
           "'columns' has 'tp' twice; leave one out");
    refuse("{\"units\":{\"step_time\":[\"ms\"]},\"rows\":[{\"step_time\":1}]}", "m.json:1:23",
           "'step_time' must be the name of a unit, not a list");
    refuse("{\"columns\":[[]],\"rows\":[]}", "m.json:1:13", "'columns' must be a list of names, not a list");
    st = parse("{\"rows\":[");
    assert_int_equal(st, DSE_E_SYNTAX);
    st = msr_jobs_read("/nowhere/m.json", NULL, 0, &arena, &jobs, &n_jobs, &err);
    assert_true(st != DSE_OK);
}

/* ---- the tables that ship ------------------------------------------------------------------ */

/* Rows, and those with a step time, as the tables' own notes and configs/measured/README.md count them. */
CLAIM(every_shipped_table_reads)
{
    static const struct {
        const char *name;
        size_t rows, timed, with_memory;
    } tables[] = {{"vtrain_a100", 73, 73, 0},
                  {"megatron_selene_a100", 36, 8, 8},
                  {"torchtitan_h100_h200", 21, 21, 13}, /* by TorchTitan's habits: 8192 tokens of Llama 3, rates of a GPU */
                  {"ccl_bench_training", 35, 34, 0},
                  {"ccl_bench_search_sweeps", 184, 71, 0}, /* 77, of which 6 repeat another's number */
                  {"other_training", 5, 5, 2}};

    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        size_t timed = 0, with_memory = 0;
        char path[512];

        snprintf(path, sizeof path, TEST_SOURCE "/configs/measured/%s.json", tables[i].name);
        dse_arena_reset(&arena);
        err = (dse_error)DSE_ERROR_INIT;
        assert_ok(msr_jobs_read(path, NULL, 0, &arena, &jobs, &n_jobs, &err), &err);
        for (size_t k = 0; k < n_jobs; k++) {
            timed += jobs[k].step_time_s > 0;
            assert_true(!strcmp(jobs[k].kind, "measured") ||
                        (!strcmp(jobs[k].kind, "computed") && isnan(jobs[k].step_time_s)));
            with_memory += jobs[k].peak_memory_bytes > 0;
            assert_true(isnan(jobs[k].step_time_s) == (jobs[k].not_measured != NULL));
        }
        assert_int_equal(n_jobs, tables[i].rows);
        assert_int_equal(timed, tables[i].timed);
        assert_int_equal(with_memory, tables[i].with_memory);
    }
}

/* The row "| FSDP 8, CP 1 | 32768 | 3,890 | 83.9 |": 8 ranks with one sequence each at 3890 tokens/s. */
CLAIM(a_shipped_rate_becomes_its_time)
{
    const char *const only[] = {"seq_len=32768", "fsdp=8", "pp=1"};

    dse_arena_reset(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    assert_ok(msr_jobs_read(TEST_SOURCE "/configs/measured/torchtitan_h100_h200.json", only, 3, &arena, &jobs,
                            &n_jobs, &err),
              &err);
    assert_int_equal(n_jobs, 1);
    assert_double(jobs->step_time_s, 8 * 32768 / (8 * 3890.0));
    assert_double(jobs->peak_memory_bytes, 83.9 * 1073741824);
    assert_true(jobs->dp_shard == 8 && jobs->float8 == 1 && jobs->recompute == MSR_RECOMPUTE_FULL);
}

/* ---- memory -------------------------------------------------------------------------------- */

static int close_arena(void **state)
{
    (void)state;
    dse_arena_free(&arena);
    return 0;
}

/* TorchTitan's configurations of Llama 3 have 8192 tokens, and its log's rate is a device's: 8 * 8192 * 2 / (8 * 100). */
CLAIM(a_programs_configuration_says_what_its_table_does_not)
{
    const msr_job *j = row("\"model\":\"Llama 3.1 8B\",\"framework\":\"torchtitan\",\"n_gpus\":8,\"fsdp\":8,\"tp\":1,"
                           "\"pp\":1,\"local_batch\":2,\"tokens_per_s\":100");

    assert_int_equal(j->sequence, 8192);
    assert_float_equal(j->step_time_s, 163.84, 1e-9);
    assert_int_equal(j->n_notes, 2);
    assert_string_equal(j->note[0], "sequences of 8192 tokens, as TorchTitan's configuration of the model has: the source does "
                                    "not say");
    assert_string_equal(j->note[1], "a rate of tokens is a device's, as TorchTitan prints it: the source does not say");
    j = row("\"model\":\"Qwen\",\"framework\":\"torchtitan\",\"n_gpus\":8,\"local_batch\":2,\"tokens_per_s\":100");
    assert_int_equal(j->sequence, NONE);
    j = row("\"model\":\"Llama 3.1 8B\",\"framework\":\"nemo\",\"n_gpus\":8,\"global_batch\":2,\"seq_len\":64,"
            "\"tokens_per_s\":100");
    assert_true(isnan(j->step_time_s) && !j->n_notes);
}

CLAIM(what_a_table_says_of_a_model_holds_for_its_rows)
{
    dse_status st = parse("{\"models\":{\"A\":{\"layers\":4,\"heads\":8,\"mlp\":\"plain\",\"tied_embeddings\":true},"
                          "\"B\":{\"layers\":5,\"activation\":\"SwiGLU\"}},\"common\":{\"layers\":6,\"tp\":2},"
                          "\"rows\":[{\"model\":\"A\",\"heads\":16},{\"model\":\"B\"},{\"model\":\"C\",\"activation\":\"squared ReLU\"}]}");

    assert_ok(st, &err);
    assert_int_equal(n_jobs, 3);
    assert_true(jobs[0].layers == 4 && jobs[0].heads == 16 && jobs[0].gated == 0 && jobs[0].tied == 1 && jobs[0].tp == 2);
    assert_true(jobs[1].layers == 5 && jobs[1].gated == 1 && jobs[1].tied == NONE && jobs[1].tp == 2);
    assert_true(jobs[2].layers == 6 && jobs[2].gated == 0);
}

/* Sources of each: job_words.c. */
CLAIM(what_a_list_of_maxtext_keeps_is_not_made_again)
{
    const msr_job *j = row("\"framework\":\"MaxText\",\"maxtext_config\":{\"remat_policy\":\"custom\",\"query_proj\":\"offload\","
                           "\"key_proj\":\"offload\",\"value_proj\":\"offload\",\"context\":\"remat\"}");

    assert_int_equal(j->recompute, MSR_RECOMPUTE_SELECTIVE);
    assert_string_equal(j->recompute_parts, "(core_attn, mlp)");
    assert_string_equal(j->note[0], "no recomputation of attention's projections, of which the list does not keep all: they "
                                    "are no module of the step");
    /* as a command line was cut */
    j = row("\"framework\":\"MaxText\",\"maxtext_config\":{\"remat_policy\":\"custom\",\"qkv_proj=device\":\"\","
            "\"context=device\":\"\",\"out_proj=device\":\"\"}");
    assert_int_equal(j->recompute, MSR_RECOMPUTE_SELECTIVE);
    assert_string_equal(j->recompute_parts, "(mlp)");
    assert_int_equal(j->n_notes, 0);
    /* keys that are shorter than what they are compared with, or begin alike */
    j = row("\"framework\":\"MaxText\",\"maxtext_config\":{\"remat_policy\":\"custom\",\"q\":\"device\",\"\":\"device\","
            "\"context_mesh\":\"device\",\"context\":\"remat\"}");
    assert_int_equal(j->recompute, MSR_RECOMPUTE_FULL);
}

#define KEEPS_ATTENTION                                                                                               \
    "\"framework\":\"MaxText\",\"maxtext_config\":{\"remat_policy\":\"custom\",\"qkv_proj\":\"device\","                \
    "\"context\":\"device\",\"out_proj\":\"device\"}"

CLAIM(a_list_of_maxtext_may_hold_for_all_rows)
{
    assert_ok(parse("{\"common\":{" KEEPS_ATTENTION "},\"rows\":[{},{\"maxtext_config\":{\"remat_policy\":\"custom\","
                    "\"decoder_layer_input\":\"offload\"}}]}"),
              &err);
    assert_int_equal(jobs[0].recompute, MSR_RECOMPUTE_SELECTIVE);
    assert_string_equal(jobs[0].recompute_parts, "(mlp)");
    assert_int_equal(jobs[1].recompute, MSR_RECOMPUTE_FULL);
}

/* Of a model with experts a list says nothing of what is made again, however the source says that it is one. */
CLAIM(a_list_of_a_model_with_experts_is_not_read)
{
    assert_int_equal(row(KEEPS_ATTENTION ",\"experts\":8")->recompute, MSR_RECOMPUTE_FULL);
    assert_int_equal(row(KEEPS_ATTENTION ",\"experts\":8,\"model\":\"Llama 3 8B\"")->recompute, MSR_RECOMPUTE_FULL);
    assert_int_equal(row(KEEPS_ATTENTION ",\"experts\":1")->recompute, MSR_RECOMPUTE_SELECTIVE);
    assert_int_equal(row(KEEPS_ATTENTION ",\"experts\":8,\"moe\":false")->recompute, MSR_RECOMPUTE_SELECTIVE);
}

/* Of 512 devices tp 4 x pp 8 x cp 2 leave 8 ranks, which are one group of ep 8. */
CLAIM(dp_may_be_counted_by_groups_of_experts)
{
    const msr_job *j = row("\"n_devices\":512,\"tp\":4,\"pp\":8,\"cp\":2,\"ep\":8,\"dp\":1,\"zero_stage\":1,\"global_batch\":64");

    assert_int_equal(j->dp, 8);
    assert_string_equal(j->note[0], "dp 8, which the devices leave: the source counts 1, by groups of experts");
    j = row("\"n_devices\":512,\"tp\":4,\"pp\":8,\"cp\":2,\"ep\":2,\"dp\":1,\"zero_stage\":1,\"global_batch\":64");
    assert_int_equal(j->dp, 1);
    /* Of 64 devices tp 2 leaves 32: by groups of ep 8 these are 4; experts that tp does not split are on 8 groups of 8. Half of
     * 32 is neither, and stays for the check of the degrees. */
#define OF_64 "\"n_devices\":64,\"tp\":2,\"pp\":1,\"ep\":8,\"zero_stage\":1,\"global_batch\":64,\"dp\":"
    assert_int_equal(row(OF_64 "4")->dp, 32);
    assert_int_equal(row(OF_64 "8")->dp, 32);
    j = row(OF_64 "16");
    assert_int_equal(j->dp, 16);
    assert_int_equal(j->n_notes, 0);
#undef OF_64
}

CLAIM(policies_of_maxtext_are_kinds_of_recomputation)
{
    static const struct {
        const char *fields;
        msr_recompute is;
        size_t notes;
    } rows[] = {
        {"\"recompute\":\"full\"", MSR_RECOMPUTE_FULL, 0},
        {"\"recompute\":\"selective (minimal: matmul outputs kept)\"", MSR_RECOMPUTE_SELECTIVE, 0},
        {"\"recompute\":\"selective (minimal_with_context)\"", MSR_RECOMPUTE_NONE, 1},
        {"\"recompute\":\"selective (qkv_proj_offloaded)\"", MSR_RECOMPUTE_SELECTIVE, 1},
        {"\"recompute\":\"selective (save_out_proj)\"", MSR_RECOMPUTE_FULL, 1},
        {"\"recompute\":\"selective (save_dot_except_mlp)\"", MSR_RECOMPUTE_SELECTIVE, 0},
        {"\"maxtext_config\":{\"remat_policy\":\"custom\",\"query_proj\":\"offload\"}", MSR_RECOMPUTE_FULL, 1},
        {"\"maxtext_config\":{\"remat_policy\":\"custom\",\"decoder_layer_input\":\"offload\"}", MSR_RECOMPUTE_FULL, 0},
        {"\"maxtext_config\":{\"remat_policy\":\"custom\",\"qkv_proj\":\"device\",\"context\":\"offload\","
         "\"out_proj\":\"device\",\"mlpwi\":\"device\"}",
         MSR_RECOMPUTE_NONE, 0},
        {"\"moe\":true,\"maxtext_config\":{\"remat_policy\":\"custom\",\"qkv_proj\":\"device\"}", MSR_RECOMPUTE_FULL, 1},
        {"\"maxtext_config\":{\"attention\":\"flash\"}", MSR_RECOMPUTE_UNKNOWN, 0},
        {"\"recompute\":\"selective\"", MSR_RECOMPUTE_SELECTIVE, 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char fields[256];
        const msr_job *j;

        snprintf(fields, sizeof fields, "\"framework\":\"MaxText\",%s", rows[i].fields);
        j = row(fields);
        assert_int_equal(j->recompute, rows[i].is);
        assert_int_equal(j->n_notes, rows[i].notes);
    }
    assert_string_equal(row("\"framework\":\"MaxText\",\"recompute\":\"selective (save_dot_except_mlpwi)\"")->recompute_parts,
                        "(core_attn, mlp)");
    assert_string_equal(row("\"framework\":\"PaxML\",\"recompute\":\"selective (save_qkv_out_proj)\"")->recompute_parts,
                        "(core_attn, mlp)");
    assert_null(row("\"framework\":\"MaxText\",\"recompute\":\"selective (minimal)\"")->recompute_parts);
    assert_int_equal(row("\"framework\":\"NeMo\",\"recompute\":\"selective (mlp)\"")->recompute, MSR_RECOMPUTE_SELECTIVE);
    assert_string_equal(jobs->recompute_parts, "(mlp)");
    assert_string_equal(row("\"recompute\":\"selective (core_attn, moe_act)\"")->recompute_parts, "(core_attn, moe_act)");
    assert_null(row("\"recompute\":\"selective (core_attn)\"")->recompute_parts);
    assert_null(row("\"recompute\":\"selective\"")->recompute_parts);
    assert_int_equal(row("\"recompute\":\"full (5 layers a stage)\"")->recompute_layers, 5);
    assert_int_equal(row("\"recompute\":\"full (5 layers a stage)\"")->recompute, MSR_RECOMPUTE_FULL);
    assert_int_equal(row("\"recompute\":\"full (all of them)\"")->recompute_layers, NONE);
    assert_int_equal(row("\"recompute\":\"full\",\"recompute_layers\":3")->recompute_layers, 3);
}

CLAIM(what_a_step_cannot_have_is_read_nevertheless)
{
    assert_int_equal(row("\"activation_cpu_offload\":true")->offloads, 1);
    assert_int_equal(row("\"cpu_offloading_num_layers\":4")->offloaded_layers, 4);
    assert_int_equal(row("\"recipe\":{\"preset\":\"A\",\"cpu_offloading_num_layers\":40}")->offloaded_layers, 40);
    assert_int_equal(row("\"recipe\":\"llama\"")->offloaded_layers, NONE);
    assert_string_equal(row("\"recipe\":{\"moe_flex_dispatcher_backend\":\"hybridep\"}")->dispatch, "hybridep");
    assert_null(row("\"recipe\":{\"moe_a2a_overlap\":true}")->dispatch);
    assert_int_equal(jobs->ep_overlap, 1);
    assert_int_equal(row("\"recipe\":{\"moe_a2a_overlap\":false}")->ep_overlap, 0);
    assert_int_equal(row("\"ep\":2")->ep_overlap, NONE);
    assert_string_equal(row("\"recipe\":{\"pp_layout\":\"Et*4|(t*4|)*14tmL\"}")->layout, "Et*4|(t*4|)*14tmL");
    assert_string_equal(row("\"pipeline_layout\":\"7,8x6,5\"")->layout, "7,8x6,5");
    assert_null(row("\"recipe\":{\"pp_layout\":null}")->layout);
    assert_int_equal(row("\"etp\":2,\"recipe\":{\"expert_tensor_parallel_size\":2}")->etp, 2);
    assert_int_equal(row("\"ep\":2")->etp, NONE);
    assert_int_equal(row("\"async_tp\":true,\"compile\":false")->n_notes, 1);
    assert_int_equal(jobs->tp_overlap, 1);
    assert_int_equal(row("\"tp_comm_overlap\":false")->tp_overlap, 0);
    assert_int_equal(row("\"async_tp\":true,\"compile\":false")->n_notes, 1);
    assert_string_equal(jobs->note[0], "the source says: not compiled (compile false); not modelled");
    assert_int_equal(row("\"async_tp\":false,\"compile\":true")->n_notes, 0);
}

/* In a number, or in a remark, which may be of any kind. */
CLAIM(further_tokens_are_predicted_where_a_row_says_so)
{
    assert_int_equal(row("\"mtp_layers\":2")->mtp_layers, 2);
    assert_int_equal(row("\"note\":\"w/ MTP\"")->mtp_layers, 1);
    assert_int_equal(row("\"note\":\"w/o MTP\"")->mtp_layers, 0);
    assert_int_equal(row("\"note\":\"dropless\"")->mtp_layers, NONE);
    assert_int_equal(row("\"note\":[\"w/ MTP\"]")->mtp_layers, NONE);
    assert_int_equal(row("\"mtp_num_layers\":0,\"note\":\"w/ MTP\"")->mtp_layers, 0);
}

/* 6 a chip on 64 chips, whatever shares a sequence. */
CLAIM(a_batch_of_chips_is_over_all_of_them)
{
    assert_int_equal(row("\"chips\":64,\"tp\":4,\"per_chip_batch\":6")->batch, 384);
    assert_int_equal(row("\"chips\":64,\"per_chip_batch\":6,\"global_batch\":128")->batch, 128);
}

CLAIM(rows_that_cannot_be_read_are_refused_where_others_can)
{
    static const char text[] = "{\"rows\":[{\"id\":\"a\",\"dp\":8,\"global_batch\":16,\"micro_batch\":3},{\"id\":\"b\",\"tp\":2}]}";
    char path[] = "/tmp/ccldse-rows-XXXXXX";
    int fd = mkstemp(path);
    const char *only[] = {"id=a"};

    assert_true(fd >= 0 && write(fd, text, sizeof text - 1) == sizeof text - 1 && close(fd) == 0);
    dse_arena_reset(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    assert_ok(msr_jobs_read(path, NULL, 0, &arena, &jobs, &n_jobs, &err), &err);
    assert_int_equal(n_jobs, 2);
    assert_string_equal(jobs[0].name, "a");
    assert_string_equal(jobs[0].refused, "global_batch, 16, is no multiple of micro_batch * dp, 3 * 8; correct one of them");
    assert_true(!jobs[1].refused && jobs[1].tp == 2);
    assert_int_equal(msr_jobs_read(path, only, 1, &arena, &jobs, &n_jobs, &err), DSE_E_CONFIG);
    unlink(path);
}

/* Fields that a mapping states hold instead of those of the rows that its words select, others stay, and the
 * run's notes say so. What selects no row is wrong. */
CLAIM(what_is_stated_elsewhere_holds_instead)
{
    static const char text[] = "{\"rows\":[{\"id\":\"a\",\"tag\":\"v1\",\"pp\":8,\"interleaving\":1},{\"id\":\"b\",\"pp\":4}]}";
    static const char yaml[] = "{interleaving: 12, recompute: \"full\"}";
    char path[] = "/tmp/ccldse-rows-XXXXXX";
    int fd = mkstemp(path);
    const char *only[] = {"tag=v1"}, *others[] = {"tag=v2"};
    msr_stated stated = {.n_only = 1, .only = only, .source = "launch.sh of v1"};
    cfg_doc doc;

    assert_true(fd >= 0 && write(fd, text, sizeof text - 1) == sizeof text - 1 && close(fd) == 0);
    dse_arena_reset(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    assert_ok(cfg_parse_yaml("s.yaml", yaml, strlen(yaml), &arena, &doc, &err), &err);
    stated.fields = doc.root;
    assert_ok(msr_jobs_read_stated(path, NULL, 0, &stated, 1, false, &arena, &jobs, &n_jobs, &err), &err);
    assert_int_equal(n_jobs, 2);
    assert_true(jobs[0].interleaving == 12 && jobs[0].pp == 8 && jobs[0].recompute == MSR_RECOMPUTE_FULL);
    assert_true(jobs[1].interleaving == NONE && jobs[1].recompute == MSR_RECOMPUTE_UNKNOWN && jobs[1].n_notes == 0);
    assert_int_equal(jobs[0].n_notes, 1);
    assert_string_equal(jobs[0].note[0], "interleaving 12, recompute full: launch.sh of v1");
    stated.only = others;
    assert_int_equal(msr_jobs_read_stated(path, NULL, 0, &stated, 1, false, &arena, &jobs, &n_jobs, &err), DSE_E_CONFIG);
    assert_string_equal(err.text, "no row has all of what selects them, first 'tag=v2'");
    /* but not of a table that may lack rows, of which none need be there */
    err = (dse_error)DSE_ERROR_INIT;
    assert_ok(msr_jobs_read_stated(path, NULL, 0, &stated, 1, true, &arena, &jobs, &n_jobs, &err), &err);
    assert_int_equal(n_jobs, 2);
    assert_ok(msr_jobs_read_stated(path, others, 1, &stated, 1, true, &arena, &jobs, &n_jobs, &err), &err);
    assert_int_equal(n_jobs, 0);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_list_of_maxtext_keeps_is_not_made_again),
        cmocka_unit_test(a_list_of_maxtext_may_hold_for_all_rows),
        cmocka_unit_test(a_list_of_a_model_with_experts_is_not_read),
        cmocka_unit_test(dp_may_be_counted_by_groups_of_experts),
        cmocka_unit_test(a_row_says_what_it_says_and_nothing_else),
        cmocka_unit_test(rows_may_be_lists_with_columns),
        cmocka_unit_test(common_fields_hold_unless_the_row_speaks),
        cmocka_unit_test(sections_are_looked_into),
        cmocka_unit_test(a_leaderboard_is_a_table),
        cmocka_unit_test(a_time_takes_its_unit_from_its_key_its_text_or_the_table),
        cmocka_unit_test(so_does_a_size),
        cmocka_unit_test(an_unknown_unit_is_refused_with_those_known),
        cmocka_unit_test(a_key_and_the_table_must_agree_on_a_unit),
        cmocka_unit_test(other_keys_are_passed_over),
        cmocka_unit_test(a_wrong_type_is_refused),
        cmocka_unit_test(what_is_not_stated_is_absent),
        cmocka_unit_test(spellings_that_disagree_are_refused),
        cmocka_unit_test(words_of_recomputation_are_known_or_nothing_is),
        cmocka_unit_test(the_framework_says_whether_dp_shards_weights),
        cmocka_unit_test(batches_follow_from_their_parts),
        cmocka_unit_test(a_rate_of_tokens_is_a_time),
        cmocka_unit_test(what_was_not_measured_says_why),
        cmocka_unit_test(the_nearest_word_says_what_a_row_is),
        cmocka_unit_test(what_is_predicted_is_no_measurement),
        cmocka_unit_test(widths_experts_and_8_bits_follow),
        cmocka_unit_test(a_row_without_a_name_gets_one_of_its_degrees),
        cmocka_unit_test(words_select_rows),
        cmocka_unit_test(what_selects_nothing_is_refused),
        cmocka_unit_test(rows_left_out_may_be_wrong),
        cmocka_unit_test(a_step_that_nothing_can_take_is_of_a_wrong_unit),
        cmocka_unit_test(a_file_that_is_no_table_is_refused),
        cmocka_unit_test(every_shipped_table_reads),
        cmocka_unit_test(a_shipped_rate_becomes_its_time),
        cmocka_unit_test(a_programs_configuration_says_what_its_table_does_not),
        cmocka_unit_test(what_a_table_says_of_a_model_holds_for_its_rows),
        cmocka_unit_test(policies_of_maxtext_are_kinds_of_recomputation),
        cmocka_unit_test(what_a_step_cannot_have_is_read_nevertheless),
        cmocka_unit_test(further_tokens_are_predicted_where_a_row_says_so),
        cmocka_unit_test(a_batch_of_chips_is_over_all_of_them),
        cmocka_unit_test(rows_that_cannot_be_read_are_refused_where_others_can),
        cmocka_unit_test(what_is_stated_elsewhere_holds_instead),
    };

    return cmocka_run_group_tests(tests, NULL, close_arena);
}
