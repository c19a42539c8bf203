/**
 * Texts that open many links, tags, comments and blocks, and end none. Linear scanners take under a
 * second for each; quadratic ones exceed {@link LIMIT_MS} by far.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { Repository, writeWiki } from "../../../../services/engines/fossil/mod.ts";
import { cpuTimeOf } from "../../../support/cpu_time.ts";
import { withFolder } from "../../../support/temporary.ts";
import { THOROUGH } from "../../../support/level.ts";

const DATE = Date.UTC(2026, 0, 2, 3, 4, 5);
const SIZE = 1_000_000;
/** What one write may take of this thread's processor time, in milliseconds. */
const LIMIT_MS = 20_000;

const filled = (part: string, size = SIZE) => part.repeat(Math.floor(size / part.length));

/** Texts by markup. */
const HOSTILE: Readonly<Record<string, readonly string[]>> = {
  "text/x-fossil-wiki": [filled("<a "), filled('<a "'), `[abcd${" ".repeat(SIZE)}x]`],
  "text/x-markdown": [
    filled("<a "),
    filled("<!--"),
    filled("[a](<"),
    `${filled("[a](^")})`,
    filled("(^"),
    filled("<!--\n\n"),
    filled("~~~\n\n"),
    `[a]: b\n\n${filled("[", SIZE / 2)}${filled("]", SIZE / 2)}`,
    `[a]: ${filled('"')}x`,
    `[a](${filled('"')}x)`,
    `${"> ".repeat(99)}${filled("x\n")}`,
  ],
};

Deno.test("texts that end no link are written in time", THOROUGH, async () => {
  await withFolder((folder) => {
    using repository = Repository.create(join(folder, "one.fossil"), {
      admin: "alice",
      date: DATE,
    });
    for (const [mimetype, texts] of Object.entries(HOSTILE)) {
      for (const [i, text] of texts.entries()) {
        const title = `${mimetype} ${i}`;
        const wiki = { user: "alice", date: DATE + i, title, mimetype, text };
        const milliseconds = cpuTimeOf(() => void writeWiki(repository, wiki));
        assert.ok(milliseconds < LIMIT_MS, `${title} takes ${milliseconds} ms`);
      }
    }
  });
});
