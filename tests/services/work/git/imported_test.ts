/** Projects that were imported from Git: every reference has the name that Git knows. */
import assert from "node:assert/strict";
import { peer } from "../../../support/peers.ts";
import { originOf } from "../../../../services/people/identity/mod.ts";
import { withGit } from "../../../support/git_door.ts";
import { BY_OPERATOR } from "../../../support/services.ts";

/** A commit of a stream: its author, its message, and its changes. */
interface StreamCommit {
  readonly mark: number;
  readonly from?: readonly number[];
  readonly ref?: string;
  readonly head?: string;
  readonly message?: string;
  readonly changes?: string;
}

const ANN = "Ann Ü <ann@example.org> 1700000000 +0530";
const SIGNATURE = "-----BEGIN PGP SIGNATURE-----\n\niQ==\n-----END PGP SIGNATURE-----\n";

/** Text as `latin1`, so that every byte is a character. */
function streamOf(...parts: readonly string[]): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(["feature done\n", ...parts, "done\n"].join(""), (c) => c.charCodeAt(0));
}

function utf8(text: string): string {
  return String.fromCharCode(...new TextEncoder().encode(text));
}

function commit(
  { mark, from = [], ref = "refs/heads/main", head, message = "text\n", changes = "" }:
    StreamCommit,
): string {
  const parents = from.map((parent, place) => `${place === 0 ? "from" : "merge"} :${parent}\n`);
  const persons = head ?? utf8(`author ${ANN}\ncommitter ${ANN}\n`);
  return `commit ${ref}\nmark :${mark}\n${persons}data ${message.length}\n${message}\n${
    parents.join("")
  }${changes}\n`;
}

function inline(mode: string, path: string, content: string): string {
  return `M ${mode} inline ${path}\ndata ${content.length}\n${content}\n`;
}

const SUBMODULE = "1".repeat(40);
const odd = "author Ann <ann@example.org> 1 +051800\ncommitter Ann <ann@example.org> 5 -0000\n";
const latin =
  "author Andr\xe9 <a@b> 1700000000 +0100\ncommitter Andr\xe9 <a@b> 1700000000 +0100\n" +
  "encoding ISO-8859-1\n";
/** What `git fast-import` of every version takes. */
const PLAIN = [
  commit({ mark: 1, changes: inline("100644", "a", "a\n") + inline("100755", "dir/run", "x\n") }),
  commit({ mark: 2, from: [1], message: "no end", changes: inline("120000", "link", "a") }),
  commit({ mark: 3, from: [1], ref: "refs/heads/side", changes: inline("100644", "dir.x", "1\n") }),
  commit({
    mark: 4,
    from: [1],
    ref: "refs/heads/third",
    changes: inline("100644", "dir/z", "2\n"),
  }),
  commit({ mark: 5, from: [2, 3, 4], message: "octopus\n\nof three\n", changes: "D a\n" }),
  commit({ mark: 6, from: [5], changes: `M 160000 ${SUBMODULE} sub/module\n` }),
  commit({ mark: 7, from: [6], changes: inline("100644", "sub/file", "f\n") }),
  commit({ mark: 8, from: [7], head: latin, message: "caf\xe9\n", changes: "" }),
  commit({ mark: 9, from: [8], changes: inline("100644", '"na\\377me"', "n\n") }),
  commit({ mark: 10, from: [9], changes: `M 160000 ${"2".repeat(40)} sub/module\n` }),
  commit({ mark: 11, from: [10], changes: "D sub/module\nR dir dir2\n" }),
  commit({ mark: 12, ref: "refs/heads/root", changes: inline("100644", "other", "o\n") }),
  commit({ mark: 13, from: [11, 12], message: "", changes: inline("100644", "dir", "file\n") }),
  "reset refs/heads/main\nfrom :13\n\nreset refs/heads/behind\nfrom :2\n\n",
  "reset refs/tags/light\nfrom :3\n\nreset refs/tags/side\nfrom :2\n\n",
  utf8(`tag annotated\nfrom :5\ntagger ${ANN}\ndata 8\nRelease\n\n`),
];

async function refsOf(client: { git(args: readonly string[]): Promise<string> }, folder: string) {
  return await client.git(["-C", folder, "for-each-ref", "--format=%(objectname) %(refname)"]);
}

Deno.test({
  name: "a clone of an imported history has the names of its upstream, and so has what follows",
  ...peer("git"),
  fn: () =>
    withGit(async (test) => {
      const { client, api, project, url } = test;
      for (const setting of ["fsck.badTimezone", "fetch.fsck.badTimezone"]) {
        await client.git(["config", "--global", setting, "ignore"]);
      }
      const stream = streamOf(
        commit({
          mark: 20,
          head: odd,
          ref: "refs/heads/zones",
          changes: inline("100644", "q", "q"),
        }),
        ...PLAIN,
      );
      await client.git(["init", "--quiet", "--bare", "up.git"]);
      const upstream = client.path("up.git");
      const importing = ["-C", upstream, "fast-import", "--quiet", "--date-format=raw-permissive"];
      await client.git(importing, undefined, stream);
      const path = client.path("stream");
      await Deno.writeFile(path, stream);
      const { repositories } = api.services.hosting;
      const source = { path, format: "git" } as const;
      await repositories.import(project, source, { origin: originOf(BY_OPERATOR) });
      const refs = await refsOf(client, upstream);
      assert.equal(refs.trim().split("\n").length, 9);
      for (const version of ["2", "0"]) {
        const mirror = await client.clone(url, "--mirror", `protocol.version=${version}`);
        assert.equal(await refsOf(client, mirror.folder), refs);
      }
      const work = await client.clone(url);
      assert.equal((await work.git("branch", "--show-current")).trim(), "main");
      const parent = (await work.git("rev-parse", "HEAD")).trim();
      await repositories.write(project, {
        caller: BY_OPERATOR,
        write: async (repository, stamp) => {
          const { uuid } = await repository.resolveCheckin("main");
          const content = new TextEncoder().encode("new\n");
          const changes = [{ kind: "write" as const, path: "new", content }];
          return await repository.commit({ ...stamp, parent: uuid, comment: "here", changes });
        },
      });
      await work.git("pull", "--quiet");
      assert.equal((await work.git("rev-parse", "HEAD~")).trim(), parent);
      assert.equal(await work.git("diff", "--name-only", "HEAD~"), "new\n");
      await work.check();
    }),
});

Deno.test({
  name: "signatures of a stream are in the commits of a clone",
  ...peer("git"),
  fn: () =>
    withGit(async (test) => {
      const { client, api, project } = test;
      const signed = `${utf8(`author ${ANN}\ncommitter ${ANN}\n`)}gpgsig sha1 openpgp\n` +
        `data ${SIGNATURE.length}\n${SIGNATURE}\n`;
      const path = client.path("stream");
      await Deno.writeFile(path, streamOf(commit({ mark: 1, head: signed })));
      const source = { path, format: "git" } as const;
      const origin = originOf(BY_OPERATOR);
      await api.services.hosting.repositories.import(project, source, { origin });
      const clone = await test.clone();
      const text = await clone.git("cat-file", "commit", "HEAD");
      const header = SIGNATURE.replaceAll("\n", "\n ");
      assert.equal(text.split("\n\ntext")[0]?.endsWith(`\ngpgsig ${header}`), true, text);
    }),
});
