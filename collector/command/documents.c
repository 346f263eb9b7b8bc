// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "collector/command/command.h"
#include "collector/document/document.h"

int command_documents(const struct options *options)
{
    (void)options;
    struct buffer text = {0};
    int code = EXIT_CODE_OK;
    if (document_print_docs(&text) < 0) {
        fprintf(stderr, "whoflow: out of memory\n");
        code = EXIT_CODE_FAILURE;
    } else if ((fwrite(text.data, 1, text.len, stdout) != text.len || fflush(stdout) != 0) &&
               errno != EPIPE) { /* | head */
        fprintf(stderr, "whoflow: stdout: %s; the text is not complete\n", strerrordesc_np(errno));
        code = EXIT_CODE_FAILURE;
    }
    buffer_deinit(&text);
    return code;
}
