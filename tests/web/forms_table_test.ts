import assert from "node:assert/strict";
import { join } from "node:path";
import { PAGES, WITHOUT_FORMS } from "../../web/table.ts";

const ROOT = join(import.meta.dirname ?? ".", "../..");

/**
 * The pages that give a service the caller, because no operation does what they do: chats as a
 * person, the own login and tokens, and calls of models.
 */
const WITHOUT_OPERATION = [
  "web/pages/account.tsx",
  "web/pages/authorize.tsx",
  "web/pages/channel.tsx",
  "web/pages/channels.tsx",
  "web/pages/conversation.tsx",
  "web/pages/home.tsx",
  "web/pages/login.tsx",
  "web/pages/settings/llm.tsx",
  "web/parts/chat/own_channels.tsx",
  "web/parts/chat/written.ts",
  "web/parts/form.tsx",
];

Deno.test("pages change nothing past the operations", async () => {
  const found: string[] = [];
  for (const folder of ["web/pages", "web/parts"]) {
    for (const path of await filesIn(folder)) {
      // What changes something takes the caller.
      if (/\bcaller\b/.test(await Deno.readTextFile(join(ROOT, path)))) found.push(path);
    }
  }
  assert.deepEqual(found.sort(), WITHOUT_OPERATION);
});

async function filesIn(folder: string): Promise<string[]> {
  const entries = await Array.fromAsync(Deno.readDir(join(ROOT, folder)));
  const files = await Promise.all(entries.map(async ({ name, isDirectory }) => {
    const path = `${folder}/${name}`;
    return isDirectory ? await filesIn(path) : [path];
  }));
  return files.flat();
}

Deno.test("the table names exactly the pages without a form, which take no POST", async () => {
  const without: string[] = [];
  for (const [path, load] of Object.entries(PAGES)) {
    const { page: { actions = {} } } = await load();
    if (Object.keys(actions).length === 0) without.push(path);
  }
  assert.deepEqual(without.sort(), [...WITHOUT_FORMS].sort());
});
