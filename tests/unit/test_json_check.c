// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "tests/support/json_check.h"
#include "tests/support/support.h"

static bool valid(const char *text)
{
    return json_is_valid(text, strlen(text));
}

static void accepts_what_rfc_8259_allows(void)
{
    CU_ASSERT(valid("{}"));
    CU_ASSERT(valid("{\"a\":[1,-2.5e+3,0,true,false,null,\"x\\n\\u00e9\"],\"b\":{}}"));
    CU_ASSERT(valid("{\"a\":{\"a\":{\"a\":1},\"b\":2},\"b\":[{\"a\":1},{\"a\":2}]}"));
    CU_ASSERT(valid("\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x99\x82\""));
}

static void refuses_what_it_does_not(void)
{
    static const char *const bad[] = {"",
                                      "{",
                                      "{\"a\":1,}",
                                      "[1 2]",
                                      "01",
                                      "1.",
                                      "+1",
                                      "nul",
                                      "\"a",
                                      "\"\t\"",
                                      "\"\\x\"",
                                      "\"\\u12g4\"",
                                      "{a:1}",
                                      "[1],",
                                      "NaN",
                                      "\"\xc0\x80\"",
                                      "\"\xed\xa0\x80\"",
                                      "\"\xff\"",
                                      "\"\xf4\x90\x80\x80\"",
                                      "-",
                                      "1e",
                                      "{\"a\":1,\"b\":2,\"a\":3}",
                                      "[{\"b\":{\"a\":1,\"a\":2}}]"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        CU_ASSERT_FALSE(valid(bad[i]));
    }
}

int main(void)
{
    static const struct test_case cases[] = {
        {"accepts_what_rfc_8259_allows", accepts_what_rfc_8259_allows},
        {"refuses_what_it_does_not", refuses_what_it_does_not},
    };
    return test_main("json_check", cases, sizeof(cases) / sizeof(cases[0]));
}
