/** `muster fossil import` of streams that may have been cut off. */
import assert from "node:assert/strict";
import { Workbench } from "../support/workbench.ts";

const SIGNED = "A <a@b> 1600000000 +0000";
const COMMITS = [1, 2].map((mark) =>
  `commit refs/tags/v1\nmark :${mark}\ncommitter ${SIGNED}\ndata 2\nm${mark}\n${
    mark === 1 ? "" : "from :1\n"
  }M 100644 inline a\ndata 1\n${mark}\n`
).join("");

for (
  const { what, stream, sign } of [
    { what: "without a branch", stream: COMMITS, sign: "has no branch" },
    {
      what: "with a commit that no branch reaches",
      stream: `${COMMITS}reset refs/heads/main\nfrom :1\n\n`,
      sign: "no branch reaches 1 of its 2 commits",
    },
  ]
) {
  Deno.test(`a stream that ends ${what} is refused, imported with --partial or done`, async () => {
    using bench = new Workbench();
    const refused = await bench.try("import", [], stream);
    assert.equal(refused.code, 1);
    assert.match(
      refused.stderr,
      new RegExp(`^The stream ends without "done" and ${sign}: .*--partial`),
    );
    assert.deepEqual([...Deno.readDirSync(bench.folder)], []);

    const partial = await bench.try("import", ["--partial"], stream);
    assert.equal(partial.code, 0);
    assert.match(partial.stdout, /^2 check-ins/);
    assert.match(partial.stderr, new RegExp(`^partial: end of the stream: .*${sign}\n`, "m"));
    Deno.removeSync(bench.repository);

    const { stderr } = await bench.try("import", [], `feature done\n${stream}done\n`);
    assert.doesNotMatch(stderr, /partial/);
    Deno.removeSync(bench.repository);
    await bench.muster("import", [], `${stream}done\n`);
  });
}

Deno.test("a stream whose commits hang on a branch, a tag of their own or notes is whole", async () => {
  using bench = new Workbench();
  const notes = `commit refs/notes/commits\nmark :9\ncommitter ${SIGNED}\ndata 1\nn\n\n`;
  const tag = `tag v1\nfrom :2\ntagger ${SIGNED}\ndata 1\nt\n`;
  const { stderr } = await bench.try(
    "import",
    [],
    `${COMMITS}${notes}reset refs/heads/main\nfrom :1\n\n${tag}`,
  );
  assert.doesNotMatch(stderr, /done|partial/);
  assert.match(await bench.muster("verify"), /all whole/);
});
