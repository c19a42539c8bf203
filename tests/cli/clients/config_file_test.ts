import assert from "node:assert/strict";
import { join } from "node:path";
import { planChange, writeChange } from "../../../cli/clients/config_file.ts";
import { CommandFailed } from "../../../cli/output.ts";
import { withFolder } from "../../support/temporary.ts";

async function write(path: string, text: string): Promise<string | null> {
  const change = await planChange({ path, mode: 0o600, apply: () => text });
  return await writeChange(change ?? assert.fail(), new Date());
}

Deno.test("a link stays one, also where its file does not exist yet", async () => {
  await withFolder(async (folder) => {
    const [first, second] = [join(folder, "first.json"), join(folder, "second.json")];
    await Deno.symlink("second.json", first);
    await Deno.symlink(join(folder, "dotfiles", "client.json"), second);
    assert.equal(await write(first, "{}"), null);
    assert.ok(Deno.lstatSync(first).isSymlink && Deno.lstatSync(second).isSymlink);
    assert.equal(await Deno.readTextFile(join(folder, "dotfiles", "client.json")), "{}");
  });
});

Deno.test("a link to itself is refused", async () => {
  await withFolder(async (folder) => {
    const path = join(folder, "client.json");
    await Deno.symlink(path, path);
    await assert.rejects(write(path, "{}"), CommandFailed);
  });
});
