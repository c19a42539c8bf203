/** A client of Git: `isomorphic_git_client.mjs COMMAND …`; `foreign_git.ts` says which. */
import fs from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import process from "node:process";

const require = createRequire(join(process.env.MUSTER_GIT_CLIENTS, "package.json"));
const git = require("isomorphic-git");
const http = require("isomorphic-git/http/node");

const author = { name: "Ann", email: "ann@example.org" };
const access = {
  fs,
  http,
  onAuth: () => ({ username: process.env.GIT_USER, password: process.env.GIT_SECRET }),
  onMessage: (text) => process.stderr.write(text),
};

const commands = {
  clone: (url, dir, depth = "0") =>
    git.clone({ ...access, dir, url, ...(depth === "0" ? {} : { depth: Number(depth) }) }),
  fetch: (dir, depth = "0") =>
    git.fetch({ ...access, dir, tags: true, ...(depth === "0" ? {} : { depth: Number(depth) }) }),
  async commit(dir, filepath, text, message) {
    fs.writeFileSync(join(dir, filepath), text);
    await git.add({ fs, dir, filepath });
    await git.commit({ fs, dir, message, author });
  },
  tag: (dir, ref, message) => git.annotatedTag({ fs, dir, ref, message, tagger: author }),
  async push(dir, ...specs) {
    for (const spec of specs) {
      const [from, to] = spec.replace(/^\+/, "").split(":");
      const isGone = from === "";
      const result = await git.push({
        ...access,
        dir,
        remote: "origin",
        remoteRef: to,
        force: spec.startsWith("+"),
        ...(isGone ? { delete: true, ref: to } : { ref: from }),
      });
      if (!result.ok) throw new Error(JSON.stringify(result));
    }
  },
};

const [command, ...rest] = process.argv.slice(2);
await commands[command](...rest).catch((error) => {
  process.stderr.write(`${error.message} ${JSON.stringify(error.data ?? {})}\n`);
  process.exit(1);
});
