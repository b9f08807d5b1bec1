/* What tables a database has, and how those of earlier versions become them. */
#include "base/strbuf.h"
#include "store/parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define APPLICATION_ID       0x43434c44 /* "CCLD": what a file must say to be ours */
#define FIRST_WITH_CHECKSUMS 6
#define FIRST_WITH_STUDIES   10

dse_status store_get_numbers(store *s, const char *sql, int n, int64_t *out, dse_error *err)
{
    sqlite3_stmt *q = NULL;
    dse_status st = DSE_OK;

    if (sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) != SQLITE_OK || sqlite3_step(q) != SQLITE_ROW)
        st = store_fail(s, err, "read the database");
    else
        for (int i = 0; i < n; i++)
            out[i] = sqlite3_column_int64(q, i);
    sqlite3_finalize(q);
    return st;
}

/* XOR, which SQLite lacks. */
#define XOR(a, b) "(" a " | " b ") - (" a " & " b ")"
#define TOTAL_TRIGGER(name, event, table, id, sign, value)                                                   \
    "CREATE TRIGGER " name " AFTER " event " ON " table " BEGIN UPDATE total SET n = n " sign                \
    " 1, checksum = " XOR("checksum", value) " WHERE id = " id "; END;"

/* How many rows each table has, and the exclusive or of their checksums (of a skipped point: of its two
 * values): a row that is lost or doubled shows. Triggers keep it, so that it is right whatever program adds
 * or removes a row. */
#define TOTALS                                                                                               \
    "CREATE TABLE total (id INTEGER PRIMARY KEY, n INTEGER NOT NULL, checksum INTEGER NOT "                  \
    "NULL);" TOTAL_TRIGGER("result_added", "INSERT", "result", "1", "+", "new.checksum")                     \
        TOTAL_TRIGGER("result_removed", "DELETE", "result", "1", "-", "old.checksum") TOTAL_TRIGGER(         \
            "skipped_added", "INSERT", "skipped", "2", "+", "(" XOR("new.hash", "new.study") ")")            \
            TOTAL_TRIGGER("skipped_removed", "DELETE", "skipped", "2", "-",                                  \
                          "(" XOR("old.hash", "old.study") ")")

/* The hashes of the points that the last sweep asked for. What is lost of it is nothing measured: no total
 * has it. */
#define ASKED "CREATE TABLE IF NOT EXISTS asked (hash INTEGER PRIMARY KEY);"

/* What an NPU of a study's system costs an hour and takes in W; NULL: not known. Nothing measured either. */
#define PRICES                                                                                               \
    "CREATE TABLE IF NOT EXISTS price (study INTEGER PRIMARY KEY, per_device_hour REAL, power REAL);"

/* What the configurations of a study's rows have in common: that of the study, whose hash is its number. */
#define STUDIES "CREATE TABLE IF NOT EXISTS study (id INTEGER PRIMARY KEY, config TEXT NOT NULL);"

static const char *const sql_type[] = {[STORE_U64] = "INTEGER",
                                       [STORE_BYTES] = "INTEGER",
                                       [STORE_PEAK_U64] = "INTEGER",
                                       [STORE_REAL] = "REAL",
                                       [STORE_TEXT] = "TEXT"};

/* One that is omitted at its default is NULL there (row.c). */
static const char *strategy_type(uint32_t parameter)
{
    const strategy_parameter *p = &strategy_parameters[parameter];

    return !strategy_is_number(p) ? "TEXT" : p->omit_default ? "INTEGER" : "INTEGER NOT NULL";
}

dse_status store_schema_make(store *s, dse_error *err)
{
    const store_column *c;
    dse_strbuf sql;
    size_t n;
    dse_status st;

    dse_strbuf_init(&sql);
    dse_strbuf_addf(
        &sql, "BEGIN IMMEDIATE;"
              "CREATE TABLE result (id INTEGER PRIMARY KEY, config TEXT NOT NULL, hash INTEGER NOT NULL,"
              " study INTEGER NOT NULL, model TEXT NOT NULL, system TEXT NOT NULL, engine TEXT NOT NULL,"
              " settings TEXT NOT NULL, done INTEGER NOT NULL, memory_rounded INTEGER NOT NULL, error TEXT,"
              " seconds REAL");
    for (uint32_t i = 0; i < STRATEGY_N; i++)
        dse_strbuf_addf(&sql, ", %s %s", strategy_parameters[i].name, strategy_type(i));
    c = store_columns(&n);
    for (size_t i = 0; i < n; i++)
        if (!store_column_is_cost(&c[i]))
            dse_strbuf_addf(&sql, ", %s %s", c[i].name, sql_type[c[i].type]);
    dse_strbuf_addf(&sql,
                    ", shared INTEGER, checksum INTEGER NOT NULL);CREATE INDEX result_hash ON result (hash);"
                    "CREATE TABLE skipped (hash INTEGER PRIMARY KEY, study INTEGER NOT NULL);" ASKED PRICES
                        STUDIES STORE_FIGURES("") TOTALS STORE_SET_TOTALS
                    "PRAGMA application_id=%d;PRAGMA user_version=%d;COMMIT;",
                    APPLICATION_ID, STORE_SCHEMA_VERSION);
    st = store_execute(s, sql.data, "make the database", err);
    dse_strbuf_free(&sql);
    return st;
}

/* A new file is empty: no application id, no tables. */
dse_status store_schema_check(store *s, int *out, dse_error *err)
{
    int64_t id = 0, version = 0, tables = 0;
    dse_status st;

    if ((st = store_get_numbers(s, "PRAGMA application_id", 1, &id, err)) != DSE_OK ||
        (st = store_get_numbers(s, "PRAGMA user_version", 1, &version, err)) != DSE_OK ||
        (st = store_get_numbers(s, "SELECT count(*) FROM sqlite_master", 1, &tables, err)) != DSE_OK)
        return st;
    *out = STORE_NEW;
    if (id == 0 && tables == 0)
        return DSE_OK;
    if (id != APPLICATION_ID)
        return dse_fail_at(err, DSE_E_STORE, s->path, "this is a database, but not one of ccldse's");
    if (version < 1)
        return dse_fail_at(err, DSE_E_STORE, s->path, "the database has no version; it is not whole");
    if (version > STORE_SCHEMA_VERSION)
        return dse_fail_at(err, DSE_E_STORE, s->path,
                           "the database is of version %" PRId64
                           "; this program knows versions up to %d. Use a newer ccldse",
                           version, STORE_SCHEMA_VERSION);
    *out = (int)version;
    return DSE_OK;
}

/* ---- migrations ---------------------------------------------------------------------------- */

/* A key of the model, which was said by the model's card or by a setting, becomes a parameter of the
 * point. */
#define MOVE(key, value)                                                                                     \
    "ALTER TABLE result ADD COLUMN " key " TEXT;"                                                            \
    "UPDATE result SET " key " = " value ", settings = trim(replace(' ' || settings || ' ', ' " key          \
    "=' || json_extract(config, '$.model." key "') || ' ', ' ')), config = json_set(json_remove(config,"     \
    " '$.model." key "'), '$.point." key "', " value ")"                                                     \
    " WHERE json_valid(config) AND json_extract(config, '$.model." key "') IS NOT NULL"                      \
    " AND json_extract(config, '$.point') IS NOT NULL;"                                                      \
    "UPDATE result SET config = iif(settings = '', json_remove(config, '$.settings'),"                       \
    " json_set(config, '$.settings', settings)) WHERE " key " IS NOT NULL"                                   \
    " AND json_extract(config, '$.settings') IS NOT NULL;"

/* Of skipped points only the hashes are stored. The points of a study whose rows move are tried, each as
 * its configuration was and as it is now: their degrees multiply to the NPUs, as do those of each row. A
 * note that none of them explains still moves to the new study, and counts there. */
#define NOTE_MOVED                                                                                           \
    "CREATE TEMP TABLE moved AS SELECT id, study AS old_study, config AS old_config FROM result"             \
    " WHERE study IN (SELECT study FROM skipped) AND json_valid(config)"                                     \
    " AND json_extract(config, '$.point') IS NOT NULL"                                                       \
    " AND coalesce(json_extract(config, '$.model.placement'), json_extract(config, '$.model.stages'))"       \
    " IS NOT NULL GROUP BY study;"
#define AS_POINT(config)                                                                                     \
    "text_hash(json_set(" config ", '$.point.dp', dp.n, '$.point.tp', tp.n, '$.point.sp', sp.n,"             \
    " '$.point.pp', dp.npus / dp.n / tp.n / sp.n, '$.point.recompute', json(recompute.word),"                \
    " '$.point.weight_sharded', json(weight_sharded.word)))"
#define MOVE_SKIPPED                                                                                         \
    "CREATE TEMP TABLE degree AS WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number"   \
    " WHERE n < (SELECT max(dp * tp * sp * pp) FROM moved JOIN result USING (id)))"                          \
    " SELECT id, dp * tp * sp * pp AS npus, n FROM moved JOIN result USING (id)"                             \
    " JOIN number ON dp * tp * sp * pp % n = 0;"                                                             \
    "CREATE TEMP TABLE renamed AS WITH flag(word) AS (VALUES ('true'), ('false'))"                           \
    " SELECT " AS_POINT("old_config") " AS old_hash, " AS_POINT(                                             \
        "config") " AS new_hash, study"                                                                      \
                  " FROM moved JOIN result USING (id) JOIN degree dp USING (id)"                             \
                  " JOIN degree tp ON tp.id = dp.id AND dp.npus / dp.n % tp.n = 0"                           \
                  " JOIN degree sp ON sp.id = dp.id AND dp.npus / dp.n / tp.n % sp.n = 0"                    \
                  " JOIN flag recompute JOIN flag weight_sharded;"                                           \
                  "INSERT OR IGNORE INTO skipped SELECT new_hash, study FROM renamed"                        \
                  " WHERE old_hash IN (SELECT hash FROM skipped) AND new_hash NOT IN (SELECT hash FROM "     \
                  "result);"                                                                                 \
                  "DELETE FROM skipped WHERE hash IN (SELECT old_hash FROM renamed);"                        \
                  "UPDATE skipped SET study = result.study FROM moved JOIN result USING (id)"                \
                  " WHERE skipped.study = old_study;"                                                        \
                  "DROP TABLE temp.moved; DROP TABLE temp.degree; DROP TABLE temp.renamed;"

/* What brings a database from version i + 1 to the next. Written once and never changed: what a version had
 * is not what the tables above say today. */
static const char *const migrations[STORE_SCHEMA_VERSION - 1] = {
    "ALTER TABLE result ADD COLUMN settings TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE result ADD COLUMN memory_rounded INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE result ADD COLUMN step_compute_bound INTEGER;"
    "ALTER TABLE result ADD COLUMN step_memory_bound INTEGER;"
    "ALTER TABLE result ADD COLUMN step_compute_other INTEGER;"
    "ALTER TABLE result ADD COLUMN step_comm_dp INTEGER;"
    "ALTER TABLE result ADD COLUMN step_comm_tp INTEGER;"
    "ALTER TABLE result ADD COLUMN step_comm_sp INTEGER;"
    "ALTER TABLE result ADD COLUMN step_comm_pp INTEGER;"
    "ALTER TABLE result ADD COLUMN step_comm_mixed INTEGER;"
    "ALTER TABLE result ADD COLUMN step_idle INTEGER;"
    "ALTER TABLE result ADD COLUMN peak_weights INTEGER;"
    "ALTER TABLE result ADD COLUMN peak_weight_gradients INTEGER;"
    "ALTER TABLE result ADD COLUMN peak_updated_weights INTEGER;"
    "ALTER TABLE result ADD COLUMN peak_activations INTEGER;"
    "ALTER TABLE result ADD COLUMN peak_recomputed INTEGER;"
    "ALTER TABLE result ADD COLUMN peak_activation_gradients INTEGER;"
    "ALTER TABLE result ADD COLUMN peak_inputs INTEGER;"
    "ALTER TABLE result ADD COLUMN peak_time INTEGER;"
    "ALTER TABLE result ADD COLUMN peak_layer INTEGER;"
    "ALTER TABLE result ADD COLUMN peak_pass TEXT;"
    "ALTER TABLE result ADD COLUMN peak_node TEXT;",
    "ALTER TABLE result ADD COLUMN undercharged_messages INTEGER;"
    "ALTER TABLE result ADD COLUMN flat_ring_collectives INTEGER;"
    "ALTER TABLE result ADD COLUMN busiest_link_util REAL;"
    "ALTER TABLE result ADD COLUMN busiest_link TEXT;",
    ("ALTER TABLE result DROP COLUMN events;"
     /* clang takes two for a slip */
     "CREATE TABLE skipped (hash INTEGER PRIMARY KEY, study INTEGER NOT NULL);"),
    ("ALTER TABLE result ADD COLUMN peak_optimizer INTEGER;"
     "ALTER TABLE result ADD COLUMN peak_gathered INTEGER;"),
    "ALTER TABLE result ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;" TOTALS,
    NOTE_MOVED MOVE("placement", "replace(json_extract(config, '$.model.placement'), ',', '-')")
        MOVE("stages",
             "json_extract(config, '$.model.stages')") "UPDATE result SET hash = text_hash(config), study = "
                                                       "text_hash(json_remove(config, '$.point')) WHERE"
                                                       " placement IS NOT NULL OR stages IS NOT "
                                                       "NULL;" MOVE_SKIPPED,
    ASKED,
    PRICES,
    (STUDIES STORE_FIGURES("") "DELETE FROM figures;"),
};

/* ---- columns of rows that came later -------------------------------------------------------- */

/* One row of names and types for each column that came later. */
static void add_later_columns(dse_strbuf *sql)
{
    size_t n;
    const store_column *c = store_columns(&n);

    dse_strbuf_adds(sql, "VALUES ");
    for (size_t i = 0; i < n; i++)
        if (!store_column_is_cost(&c[i]))
            dse_strbuf_addf(sql, "%s('%s', '%s')", i ? ", " : "", c[i].name, sql_type[c[i].type]);
    for (uint32_t i = 0; i < STRATEGY_N; i++)
        if (strategy_parameters[i].omit_default)
            dse_strbuf_addf(sql, ", ('%s', '%s')", strategy_parameters[i].name, strategy_type(i));
    dse_strbuf_adds(sql, ", ('shared', 'INTEGER')");
}

dse_status store_schema_missing(store *s, dse_strbuf *alter, dse_error *err)
{
    sqlite3_stmt *q = NULL;
    dse_strbuf sql;
    dse_status st = DSE_OK;
    int code = SQLITE_ERROR;

    dse_strbuf_init(&sql);
    dse_strbuf_adds(&sql, "WITH later(name, type) AS (");
    add_later_columns(&sql);
    dse_strbuf_adds(&sql, ") SELECT name, type FROM later"
                          " WHERE name NOT IN (SELECT name FROM pragma_table_info('result'))");
    if (sqlite3_prepare_v2(s->db, sql.data, -1, &q, NULL) == SQLITE_OK)
        while ((code = sqlite3_step(q)) == SQLITE_ROW)
            dse_strbuf_addf(alter, "ALTER TABLE result ADD COLUMN %s %s;", sqlite3_column_text(q, 0),
                            sqlite3_column_text(q, 1));
    if (code != SQLITE_DONE)
        st = store_fail(s, err, "read the database");
    sqlite3_finalize(q);
    dse_strbuf_free(&sql);
    return st;
}

static dse_status bring(store *s, const char *sql, dse_error *err)
{
    return store_execute(s, sql, "bring the database to this version", err);
}

/* The columns that a checksum counts; what a file of an older version lacks is NULL, as it would be there. */
static dse_status add_columns_of_old(store *s, dse_strbuf *sql, dse_error *err)
{
    static const char query[] = "SELECT count(*) FROM pragma_table_info('result') WHERE name = '%s'";
    char one[sizeof query + 64], *rest = NULL;
    dse_status st = DSE_OK;
    dse_strbuf names;

    dse_strbuf_init(&names);
    store_add_columns(&names);
    for (char *name = strtok_r(names.data, ", ", &rest); name && st == DSE_OK;
         name = strtok_r(NULL, ", ", &rest)) {
        int64_t there = 0;

        snprintf(one, sizeof one, query, name);
        st = store_get_numbers(s, one, 1, &there, err);
        dse_strbuf_addf(sql, "%s%s", name == names.data ? "" : ", ", there ? name : "NULL");
    }
    dse_strbuf_free(&names);
    return st;
}

/* What was wrong with a file of an older version: checksums and totals that are made anew would hide it. */
typedef struct {
    int64_t missing;    /* rows, by the totals */
    bool rows, skipped; /* the totals of these do not agree */
} old_damage;

/* The rows that are not what was written stay in temp.damaged. */
static dse_status note_damage(store *s, old_damage *out, dse_error *err)
{
    static const char totals[] =
        "SELECT t.n - r.n, t.n IS NOT r.n OR t.checksum IS NOT r.x, u.n IS NOT k.n OR u.checksum IS NOT k.x"
        " FROM"
        " (SELECT count(*) n, xor_all(checksum) x FROM result) r,"
        " (SELECT count(*) n, xor_all(" XOR(
            "hash", "study") ") x FROM skipped) k"
                             " LEFT JOIN total t ON t.id = 1 LEFT JOIN total u ON u.id = 2";
    int64_t n[3] = {0};
    dse_strbuf sql;
    dse_status st;

    dse_strbuf_init(&sql);
    dse_strbuf_adds(&sql, "CREATE TEMP TABLE damaged AS SELECT id FROM result WHERE row_checksum(");
    st = add_columns_of_old(s, &sql, err);
    dse_strbuf_adds(&sql, ") IS NOT checksum");
    if (st == DSE_OK && (st = bring(s, sql.data, err)) == DSE_OK)
        st = store_get_numbers(s, totals, 3, n, err);
    *out = (old_damage){n[0], n[1] != 0, n[2] != 0};
    dse_strbuf_free(&sql);
    return st;
}

#define SHARE_CONFIGS                                                                                        \
    "INSERT OR IGNORE INTO study SELECT study, study_part(config) FROM result"                               \
    " WHERE shared IS NULL AND text_hash(study_part(config)) = study;"                                       \
    "UPDATE result SET config = point_part(config), shared = 1 WHERE shared IS NULL"                         \
    " AND study_part(config) = (SELECT s.config FROM study s WHERE s.id = result.study);"

/* Rows of a version without checksums get theirs. What was damaged before stays so. */
static void add_end(int version, const old_damage *before, dse_strbuf *sql)
{
    if (version < FIRST_WITH_STUDIES)
        dse_strbuf_adds(sql, SHARE_CONFIGS);
    if (version < STORE_SCHEMA_VERSION) {
        dse_strbuf_adds(sql, "UPDATE result SET checksum = row_checksum(");
        store_add_columns(sql);
        dse_strbuf_adds(sql, ");");
        if (version >= FIRST_WITH_CHECKSUMS)
            dse_strbuf_adds(sql, "UPDATE result SET checksum = ~checksum WHERE id IN temp.damaged;"
                                 "DROP TABLE temp.damaged;");
        dse_strbuf_adds(sql, STORE_SET_TOTALS);
        if (before->rows)
            dse_strbuf_addf(sql, "UPDATE total SET n = n + %" PRId64 ", checksum = ~checksum WHERE id = 1;",
                            before->missing);
        if (before->skipped)
            dse_strbuf_adds(sql, "UPDATE total SET checksum = ~checksum WHERE id = 2;");
    }
    dse_strbuf_addf(sql, "PRAGMA user_version=%d;COMMIT", STORE_SCHEMA_VERSION);
}

/* One transaction: a database is of one version or of the other. */
dse_status store_schema_migrate(store *s, int version, dse_error *err)
{
    dse_status st = bring(s, "BEGIN IMMEDIATE", err);
    old_damage before = {0};
    dse_strbuf sql;

    if (st != DSE_OK)
        return st;
    if (version >= FIRST_WITH_CHECKSUMS && version < STORE_SCHEMA_VERSION)
        st = note_damage(s, &before, err);
    for (int v = version; st == DSE_OK && v < STORE_SCHEMA_VERSION; v++)
        st = bring(s, migrations[v - 1], err);
    dse_strbuf_init(&sql);
    if (st == DSE_OK)
        st = store_schema_missing(s, &sql, err);
    add_end(version, &before, &sql);
    if (st == DSE_OK)
        st = bring(s, sql.data, err);
    dse_strbuf_free(&sql);
    if (st != DSE_OK)
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL); /* the failure is already told */
    return st;
}
