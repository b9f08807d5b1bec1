/* Configurations: what the rows of a study have in common is there once. */
#include "base/array.h"
#include "base/hash.h"
#include "store/parts.h"

#define DOING "read the configuration of a study"

/* A row's configuration is its study's, {...}, with the point behind it: {...,"point":{...}}. */
static const char before_point[] = ",\"point\":";
#define N_BEFORE (sizeof before_point - 1)

/* FNV-1a goes backwards, too: its factor is odd, and this is the inverse modulo 2^64. */
#define FNV_FACTOR  1099511628211u
#define FNV_INVERSE 0xce965057aff6957bu

/* Finds the one byte by which a text does not have this hash, and puts it right: with the hash of what is
 * before a byte, and the one that what is behind it needs, the byte follows. A bit that flipped would else
 * cost all rows of the study. */
static bool mend(uint64_t hash, char *text, size_t n)
{
    uint64_t *before = dse_calloc(n + 1, sizeof *before), behind = hash;
    bool mended = false;

    before[0] = dse_hash_bytes("", 0);
    for (size_t i = 0; i < n; i++)
        before[i + 1] = dse_hash_more(before[i], &text[i], 1);
    for (size_t i = n; !mended && i-- > 0;) {
        const uint64_t byte = before[i] ^ behind * FNV_INVERSE;

        mended = byte <= 0xff;
        if (mended)
            text[i] = (char)(unsigned char)byte;
        behind = behind * FNV_INVERSE ^ (unsigned char)text[i];
    }
    dse_free(before);
    return mended;
}

/* The configuration of a study into s->shared, and whether there is one whose hash that is. */
static dse_status load(store *s, uint64_t study, bool *found, dse_error *err)
{
    sqlite3_stmt *q = s->study;
    dse_status st = DSE_OK;
    int code;

    *found = s->has_shared && s->shared_study == study;
    if (*found)
        return DSE_OK;
    s->has_shared = false;
    dse_strbuf_clear(&s->shared);
    if (!q &&
        sqlite3_prepare_v2(s->db, "SELECT config FROM study WHERE id = ?", -1, &s->study, NULL) != SQLITE_OK)
        return store_fail(s, err, DOING);
    q = s->study;
    sqlite3_bind_int64(q, 1, (int64_t)study);
    code = sqlite3_step(q);
    if (code == SQLITE_ROW)
        dse_strbuf_add(&s->shared, (const char *)sqlite3_column_text(q, 0),
                       (size_t)sqlite3_column_bytes(q, 0));
    else if (code != SQLITE_DONE)
        st = store_fail(s, err, DOING);
    sqlite3_reset(q);
    s->shared_study = study;
    *found = s->has_shared = s->shared.len > 1 && (dse_hash_bytes(s->shared.data, s->shared.len) == study ||
                                                   mend(study, s->shared.data, s->shared.len));
    return st;
}

/* ---- functions for SQL --------------------------------------------------------------------------------- */

/* whole_config(study, config, shared) */
static void whole_config(sqlite3_context *context, int n, sqlite3_value **v)
{
    store *s = sqlite3_user_data(context);
    dse_strbuf *out = &s->whole;
    bool found;

    (void)n;
    if (sqlite3_value_type(v[2]) == SQLITE_NULL) {
        sqlite3_result_value(context, v[1]);
        return;
    }
    if (load(s, (uint64_t)sqlite3_value_int64(v[0]), &found, NULL) != DSE_OK || !found) {
        sqlite3_result_error(context, "the configuration of a study is not what was written", -1);
        return;
    }
    dse_strbuf_clear(out);
    dse_strbuf_add(out, s->shared.data, s->shared.len - 1);
    dse_strbuf_adds(out, before_point);
    dse_strbuf_add(out, (const char *)sqlite3_value_text(v[1]), (size_t)sqlite3_value_bytes(v[1]));
    dse_strbuf_addc(out, '}');
    sqlite3_result_text(context, out->data, (int)out->len, SQLITE_TRANSIENT);
}

/* config_lost(study, shared): whether a row's configuration cannot be put together. */
static void config_lost(sqlite3_context *context, int n, sqlite3_value **v)
{
    bool found = true;

    (void)n;
    if (sqlite3_value_type(v[1]) != SQLITE_NULL &&
        load(sqlite3_user_data(context), (uint64_t)sqlite3_value_int64(v[0]), &found, NULL) != DSE_OK)
        sqlite3_result_error(context, "the configuration of a study cannot be read", -1);
    else
        sqlite3_result_int(context, !found);
}

/* Where the point begins, in a configuration that ends with one; NULL: it does not. */
static const char *point_of(const char *config, size_t n)
{
    const char *found = NULL;

    if (n < 2 || config[n - 1] != '}')
        return NULL;
    for (const char *at = config; (at = strstr(at, before_point)); at += N_BEFORE)
        found = at;
    return found && found > config ? found + N_BEFORE : NULL;
}

/* study_part(config), point_part(config): NULL if they cannot be told apart. */
static void config_part(sqlite3_context *context, sqlite3_value **v, bool of_point)
{
    const char *config = (const char *)sqlite3_value_text(v[0]);
    const size_t n = (size_t)sqlite3_value_bytes(v[0]);
    const char *point = config ? point_of(config, n) : NULL;
    char *study;

    if (!point) {
        sqlite3_result_null(context);
    } else if (of_point) {
        sqlite3_result_text(context, point, (int)(config + n - 1 - point), SQLITE_TRANSIENT);
    } else {
        study = sqlite3_mprintf("%.*s}", (int)(point - N_BEFORE - config), config);
        if (study)
            sqlite3_result_text(context, study, -1, sqlite3_free);
        else
            sqlite3_result_error_nomem(context);
    }
}

static void study_part(sqlite3_context *context, int n, sqlite3_value **v)
{
    (void)n;
    config_part(context, v, false);
}

static void point_part(sqlite3_context *context, int n, sqlite3_value **v)
{
    (void)n;
    config_part(context, v, true);
}

/* mended(study, config): the configuration of a study as it was written, where one byte of it is not. */
static void mended(sqlite3_context *context, int n, sqlite3_value **v)
{
    const void *config = sqlite3_value_blob(v[1]);
    const size_t length = (size_t)sqlite3_value_bytes(v[1]);
    dse_strbuf text;

    (void)n;
    dse_strbuf_init(&text);
    dse_strbuf_add(&text, config, length);
    mend((uint64_t)sqlite3_value_int64(v[0]), text.data, length);
    sqlite3_result_text(context, text.data, (int)length, SQLITE_TRANSIENT);
    dse_strbuf_free(&text);
}

void store_add_config_functions(store *s)
{
    static const struct {
        const char *name;
        int n;
        void (*call)(sqlite3_context *, int, sqlite3_value **);
    } functions[] = {{"whole_config", 3, whole_config},
                     {"config_lost", 2, config_lost},
                     {"study_part", 1, study_part},
                     {"point_part", 1, point_part},
                     {"mended", 2, mended}};

    for (size_t i = 0; i < DSE_COUNT(functions); i++)
        if (sqlite3_create_function(s->db, functions[i].name, functions[i].n, SQLITE_UTF8, s,
                                    functions[i].call, NULL, NULL) != SQLITE_OK)
            dse_out_of_memory();
}

/* ---- writing ------------------------------------------------------------------------------------------- */

void store_forget_shared(store *s) { s->has_shared = false; }

static dse_status insert_study(store *s, uint64_t study, const dse_strbuf *config, dse_error *err)
{
    sqlite3_stmt *q = NULL;
    dse_status st = DSE_OK;

    if (sqlite3_prepare_v2(s->db, "INSERT OR IGNORE INTO study VALUES (?1, ?2)", -1, &q, NULL) != SQLITE_OK)
        return store_fail(s, err, "write a result");
    sqlite3_bind_int64(q, 1, (int64_t)study);
    sqlite3_bind_text(q, 2, config->data, (int)config->len, SQLITE_STATIC);
    if (sqlite3_step(q) != SQLITE_DONE)
        st = store_fail(s, err, "write a result");
    sqlite3_finalize(q);
    return st;
}

dse_status store_share_config(store *s, const store_row *r, const char **point, size_t *n, dse_error *err)
{
    const size_t length = strlen(r->config);
    const char *at = point_of(r->config, length);
    const size_t n_study = at ? (size_t)(at - r->config) - N_BEFORE : 0;
    dse_status st = DSE_OK;
    bool found;

    *point = NULL;
    if (!at || (st = load(s, r->study, &found, err)) != DSE_OK)
        return st;
    if (!found) {
        dse_strbuf config;

        dse_strbuf_init(&config);
        dse_strbuf_add(&config, r->config, n_study);
        dse_strbuf_addc(&config, '}');
        if (dse_hash_bytes(config.data, config.len) == r->study)
            st = insert_study(s, r->study, &config, err);
        dse_strbuf_free(&config);
        if (st != DSE_OK || (st = load(s, r->study, &found, err)) != DSE_OK || !found)
            return st;
    }
    if (s->shared.len == n_study + 1 && !memcmp(s->shared.data, r->config, n_study)) {
        *point = at;
        *n = (size_t)(r->config + length - 1 - at);
    }
    return DSE_OK;
}
