/* A Hugging Face config as a model card: what is accepted has its sizes in the card's ranges, and notes that are of its
 * own keys. */
#include "cards/hf.h"
#include "cards/model.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const cfg_setting items[] = {{"batch", "8"}, {"sequence", "16"}};
    const cfg_settings settings = {2, items};
    dse_error err = DSE_ERROR_INIT;
    const char *note = NULL;
    cfg_doc doc = {0}, card = {0};
    card_hf_notes notes;
    dse_arena arena;
    card_model m;

    if (size > FUZZ_MAX_BYTES)
        return 0;
    dse_arena_init(&arena);
    if (fuzz_ok(cfg_parse_json("config.json", (const char *)data, size, &arena, &doc, &err), &err) &&
        card_hf_is_config(&doc) && fuzz_ok(card_hf_card(&doc, &arena, &card, &notes, &err), &err)) {
        ENSURE(notes.n <= CARD_HF_MAX_NOTES);
        for (uint32_t i = 0; i < notes.n; i++)
            ENSURE(cfg_get(doc.root, notes.item[i].key->text) ||
                   cfg_get(card_hf_text(&doc), notes.item[i].key->text));
        if (fuzz_ok(card_hf_resolve(&doc, &arena, &note, &err), &err)) {
            ENSURE((note != NULL) == (notes.n > 0));
            if (fuzz_ok(card_model_read(&doc, &settings, &m, &err), &err))
                ENSURE(m.d_model > 0 && m.d_ff > 0 && m.heads > 0 && m.layers > 0 && m.vocabulary > 0);
        }
    }
    dse_arena_free(&arena);
    return 0;
}
