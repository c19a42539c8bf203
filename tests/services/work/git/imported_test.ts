/** Projects that were imported from Git: every reference has the name that Git knows. */
import assert from "node:assert/strict";
import { peer } from "../../../support/peers.ts";
import { originOf } from "../../../../services/people/identity/mod.ts";
import { withGit } from "../../../support/git_door.ts";
import {
  commit,
  inline,
  ODD_ZONES,
  PLAIN,
  SIGNATURE,
  signedBy,
  streamOf,
} from "../../../support/odd_history.ts";
import { BY_OPERATOR } from "../../../support/services.ts";

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
          head: ODD_ZONES,
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
      const from = { source: path, format: "git" } as const;
      await repositories.import(project, from, { origin: originOf(BY_OPERATOR) });
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
      const signed = `${signedBy()}gpgsig sha1 openpgp\ndata ${SIGNATURE.length}\n${SIGNATURE}\n`;
      const path = client.path("stream");
      await Deno.writeFile(path, streamOf(commit({ mark: 1, head: signed })));
      const from = { source: path, format: "git" } as const;
      const origin = originOf(BY_OPERATOR);
      await api.services.hosting.repositories.import(project, from, { origin });
      const clone = await test.clone();
      const text = await clone.git("cat-file", "commit", "HEAD");
      const header = SIGNATURE.replaceAll("\n", "\n ");
      assert.equal(text.split("\n\ntext")[0]?.endsWith(`\ngpgsig ${header}`), true, text);
    }),
});
