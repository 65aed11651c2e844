/* The SPEC grammar: canonical forms, messages, every key of every class documented. */
#include <stdlib.h>
#include <string.h>

#include "comma_locale.h"
#include "suite.h"
#include "encoding/encoding.h"
#include "base/file.h"

static void ck_canonical(const char *spec, const char *canonical) {
    szg_encoding *encoding;
    ck_szg_ok(szg_encoding_parse(test_context(), spec, &encoding));
    ck_assert_str_eq(szg_encoding_spec(encoding), canonical);
    szg_encoding *again;
    ck_szg_ok(szg_encoding_parse(test_context(), canonical, &again));
    ck_assert_str_eq(szg_encoding_spec(again), canonical);
    szg_encoding_close(&again);
    szg_encoding_close(&encoding);
    ck_assert_ptr_null(encoding);
}

START_TEST(canonical) {
    ck_canonical("nope", "nope");
    ck_canonical("rope", "rope");
    ck_canonical("rope:base=1e4,dim=128", "rope:dim=128,base=10000");
    ck_canonical("rope:base=500000.0,dim=128,scaling=llama3,factor=8,original=8192",
                 "rope:dim=128,base=500000,scaling=llama3,factor=8,original=8192");
    ck_canonical("rope:dim=128,base=500000,scaling=llama3,factor=8",
                 "rope:dim=128,base=500000,scaling=llama3,factor=8");
    ck_canonical("rope:rotate=0+2-3,heads=4", "rope:heads=4,rotate=0+2-3");
    ck_canonical("kms:rho=.1", "kms:rho=0.1");
    ck_canonical("kms:rho=-0x1.8p-1", "kms:rho=-0.75");
    ck_canonical("rope+absolute:dim=8", "rope+absolute:dim=8");
    ck_canonical("alibi:heads=012", "alibi:heads=12");
    ck_canonical("rope:band_shift=1,base=50,bands=heads,heads=2",
                 "rope:heads=2,bands=heads,band_shift=1,base=50");
    ck_canonical("rope:scaling=none,theta=.50", "rope:theta=0.5,scaling=none");
    ck_canonical("rope-bias:heads=2,scale=2.50,base=50,dim=8",
                 "rope-bias:dim=8,base=50,scale=2.5,heads=2");
}
END_TEST

START_TEST(a_comma_in_the_locale_changes_nothing) {
    enter_comma_locale();
    ck_canonical("kms:rho=0.5", "kms:rho=0.5");
    ck_canonical("kms:rho=.1", "kms:rho=0.1");
    ck_canonical("kms:rho=-0x1.8p-1", "kms:rho=-0.75");
    ck_canonical("rope:base=500000.25,dim=128", "rope:dim=128,base=500000.25");
    szg_encoding *encoding;
    ck_szg_fails(SZG_EINVAL, "", szg_encoding_parse(test_context(), "kms:rho=0,5", &encoding));
    ck_szg_fails(SZG_EINVAL, "rho=1.5",
                 szg_encoding_parse(test_context(), "kms:rho=1.5", &encoding));
    leave_comma_locale();
}
END_TEST

static const struct {
    const char *spec, *words;
} bad[] = {
    {"ropes", "\"ropes\" is unknown: did you mean rope? The known ones are nope, "},
    {"Rope", "\"Rope\" is unknown: did you mean rope?"},
    {"rope:", "is not key=value"},
    {"rope:dim", "is not key=value"},
    {"rope:dim=", "key dim has no value"},
    {"rope:dim=8,", "is not key=value"},
    {"rope:,dim=8", "is not key=value"},
    {"rope:=8", "key \"\" is unknown"},
    {"rope:dims=8", "key \"dims\" is unknown: did you mean dim? The known ones are dim, rotary, "
                    "heads, rotate, bands"},
    {"nope:dim=8", "nope has no keys"},
    {"yarn", "\"yarn\" is unknown: did you mean rope:scaling=yarn?"},
    {"rope:dim=8,yarn=4", "key \"yarn\" is unknown: did you mean scaling=yarn?"},
    {"rope:head_dim=8", "key \"head_dim\" is unknown: did you mean dim?"},
    {"rope:dim=8,rope_theta=500", "key \"rope_theta\" is unknown: did you mean base?"},
    {"alibi:n_heads=8", "key \"n_heads\" is unknown: did you mean heads?"},
    {"alibi:head_dim=8", "key \"head_dim\" is unknown: the known ones are"},
    {"rope:theta=500", "outside its range 0 .. 3.1415926535897931: the angle of every pair per "
                       "position in place of base"},
    {"rope:dim=64 base=500", "a comma separates keys: write dim=64,base=500"},
    {"rope:dim=64:base=500", "a comma separates keys: write dim=64,base=500"},
    {"rope:scaling=yarn ; factor=8", "a comma separates keys: write scaling=yarn,factor=8"},
    {"rope:dim=64 bose=500", "is not a whole number"},
    {"rope:dim=8,dim=8", "key dim is given twice"},
    {"rope:dim=7", "dim=7 is odd"},
    {"rope:rotary=3", "rotary=3 is odd"},
    {"rope:dim=8,rotary=10", "exceeds the head dimension"},
    {"rope:dim=0", "outside its range"},
    {"rope:dim=-4", "outside its range"},
    {"rope:dim=99999999999999999999", "outside its range"},
    {"rope:dim=8x", "not a whole number"},
    {"rope:dim= 8", "not a whole number"},
    {"rope:dim=+8", "not a whole number"},
    {"rope:dim=8.0", "not a whole number"},
    {"rope:base=nan", "not a finite number"},
    {"rope:base=-nan", "not a finite number"},
    {"rope:base=1e999", "not a finite number"},
    {"rope:base=0", "outside its range"},
    {"rope:pairing=other", "one of interleaved|half"},
    {"rope:heads=4,rotate=4", "names head 4"},
    {"rope:heads=4,rotate=2-1", "ascending list"},
    {"rope:heads=4,rotate=1+1", "ascending list"},
    {"rope:heads=4,rotate=1+", "ascending list"},
    {"rope:heads=4,rotate=-1", "ascending list"},
    {"rope:heads=4,rotate=0-99999999999999999999", "ascending list"},
    {"rope:bands=head", "bands=head is unknown: did you mean heads? One of shared|heads"},
    {"rope:heads=4,bands=heads,band_shift=4", "band_shift=4 is outside 0 .. 3, as heads=4"},
    {"rope:bands=heads,band_shift=-1", "band_shift=-1 is outside its range"},
    {"rope:heads=4,band_shift=1", "key band_shift has no meaning under bands=shared"},
    {"rope:bands=heads,scaling=linear,factor=2", "bands=heads and scaling=linear exclude"},
    {"rope:theta=0", "theta=0 rotates nothing: it must be above 0"},
    {"rope:theta=-1", "theta=-1 is outside its range"},
    {"rope:theta=3.1415926535897936", "is outside its range 0 .. 3.141592653589793"},
    {"rope:theta=nan", "theta=nan is not a finite number"},
    {"rope:theta=1,base=10000", "theta=1 and base=10000 exclude each other"},
    {"rope:theta=1,scaling=ntk,factor=2", "theta=1 and scaling=ntk exclude each other"},
    {"rope:theta=1,bands=heads", "theta=1 and bands=heads exclude each other"},
    {"rope:theta=1,factor=2", "has no meaning under scaling=none"},
    {"rope+absolute:theta=1", "key \"theta\" is unknown"},
    {"rope-bias:dim=7", "rope-bias: dim=7 is odd"},
    {"rope-bias:scale=0", "scale=0 is outside its range"},
    {"rope-bias:scale=-1", "scale=-1 is outside its range"},
    {"rope-bias:rotary=4", "key \"rotary\" is unknown"},
    {"rope:factor=8", "has no meaning under scaling=none"},
    {"rope:scaling=linear", "needs the key factor"},
    {"rope:scaling=yarn,factor=8", "needs the key original"},
    {"rope:scaling=dynamic,factor=2,original=2048", "needs the key length"},
    {"rope:scaling=linear,factor=2,low=1", "key low has no meaning"},
    {"rope:scaling=llama3,factor=8,original=8192,low=4,high=4", "must exceed"},
    {"rope:dim=2,scaling=ntk,factor=2", "more than 2 rotary"},
    {"rope:base=1,scaling=yarn,factor=2,original=64", "base above 1"},
    {"rope:scaling=yarn,factor=2,original=1", "no ramp"},
    {"kms", "key rho is missing"},
    {"kms:rho=1", "open interval"},
    {"kms:rho=2", "outside its range"},
    {"absolute:dim=3", "dim=3 is odd"},
    {"mla:rope=3", "rope=3 is odd"},
    {"rope+absolute:input=3", "input=3 is odd"},
    {"rope:input=4", "key \"input\" is unknown"},
    {"learned", "table=FILE (trained numbers) or seed=S"},
    {"learned:table=x,seed=1", "not both"},
    {"learned:table=x,std=1", "std= belongs to seed="},
    {"learned:table=/nonexistent/file.npy", "/nonexistent/file.npy"},
    {"random", "seed=S"},
    {"relative", "seed=S"},
    {"t5", "seed=S"},
    {"t5:seed=1,buckets=31", "is odd"},
    {"t5:seed=1,buckets=2", "no bucket for single distances"},
    {"t5:seed=1,max_distance=8", "must exceed"},
    {"alibi:heads=0", "outside its range"},
    {"alibi:slopes=exp,bias_max=8", "belongs to slopes=published"},
    {"file", "key path is missing"},
    {"file:path=/nonexistent/file.npy", "/nonexistent/file.npy"},
};

START_TEST(messages) {
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        szg_encoding *encoding = NULL;
        szg_status status = szg_encoding_parse(test_context(), bad[i].spec, &encoding);
        bool file = strstr(bad[i].spec, "nonexistent") != NULL;
        ck_assert_msg(status == (file ? SZG_EIO : SZG_EINVAL), "%s: %s", bad[i].spec,
                      szg_status_name(status));
        ck_assert_msg(strstr(szg_context_message(test_context()), bad[i].words),
                      "%s: \"%s\" lacks \"%s\"", bad[i].spec, szg_context_message(test_context()),
                      bad[i].words);
        ck_assert_ptr_null(encoding);
    }
}
END_TEST

/* An unknown name is answered with every known one. */
START_TEST(known_names) {
    char words[1024];
    size_t used = (size_t)sprintf(words, "encoding \"\" is unknown: the known ones are ");
    for (int64_t i = 0; i < szgi_encoding_classes(); i++)
        used += (size_t)snprintf(words + used, sizeof words - used, "%s%s", i > 0 ? ", " : "",
                                 szgi_encoding_class_at(i)->name);
    szg_encoding *encoding;
    ck_szg_fails(SZG_EINVAL, words, szg_encoding_parse(test_context(), "", &encoding));
}
END_TEST

/* A hostile name is cut off in the message and does no harm. */
START_TEST(long_names) {
    char spec[20000];
    memset(spec, 'a', sizeof spec - 1);
    spec[sizeof spec - 1] = 0;
    szg_encoding *encoding;
    ck_szg_fails(SZG_EINVAL, "is unknown", szg_encoding_parse(test_context(), spec, &encoding));
    memcpy(spec, "rope:", 5);
    ck_szg_fails(SZG_EINVAL, "is not key=value",
                 szg_encoding_parse(test_context(), spec, &encoding));
}
END_TEST

/* docs/reference/encodings.md names every class and every key in code quotes. */
START_TEST(documented) {
    const char *docs = getenv("SZG_DOCS");
    ck_assert_ptr_nonnull(docs);
    char path[4096], quoted[256];
    snprintf(path, sizeof path, "%s/reference/encodings.md", docs);
    szgi_contents page;
    ck_szg_ok(szgi_contents_open(test_context(), path, &page));
    for (int64_t i = 0; i < szgi_encoding_classes(); i++) {
        const szgi_spec_class *class = szgi_encoding_class_at(i);
        snprintf(quoted, sizeof quoted, "`%s`", class->name);
        ck_assert_msg(memmem(page.data, (size_t)page.size, quoted, strlen(quoted)), "%s", quoted);
        for (int64_t j = 0; j < class->keys; j++) {
            snprintf(quoted, sizeof quoted, "`%s`", class->key[j].name);
            ck_assert_msg(memmem(page.data, (size_t)page.size, quoted, strlen(quoted)), "%s %s",
                          class->name, quoted);
        }
    }
    szgi_contents_close(&page);
}
END_TEST

/* Every default is one that the table's own range admits. */
START_TEST(defaults) {
    for (int64_t i = 0; i < szgi_encoding_classes(); i++) {
        const szgi_spec_class *class = szgi_encoding_class_at(i);
        for (int64_t j = 0; j < class->keys; j++) {
            const szgi_key *key = &class->key[j];
            ck_assert(key->doc && *key->doc);
            ck_assert((key->type == SZGI_KEY_CHOICE) == (key->choices != NULL));
            if (!key->fallback || key->type == SZGI_KEY_CHOICE)
                continue;
            double value = strtod(key->fallback, NULL);
            ck_assert(value >= key->min && value <= key->max);
        }
    }
}
END_TEST

TEST_FILE("spec") {
    test_add(suite, "canonical", canonical);
    test_add(suite, "a_comma_in_the_locale_changes_nothing", a_comma_in_the_locale_changes_nothing);
    test_add(suite, "messages", messages);
    test_add(suite, "known_names", known_names);
    test_add(suite, "long_names", long_names);
    test_add(suite, "documented", documented);
    test_add(suite, "defaults", defaults);
}
