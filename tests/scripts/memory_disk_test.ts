import assert from "node:assert/strict";
import { join } from "node:path";
import { memoryDiskOn } from "../../scripts/memory_disk.ts";
import { withFolder } from "../support/temporary.ts";

Deno.test("a command has a disk in memory that nobody else sees, where it can have one", () =>
  withFolder((folder) => {
    const words = memoryDiskOn(folder);
    const script = 'printf "%s|" "$@" > "$0/said" && cat "$0/said"';
    const [program = "", ...args] = [...words, "sh", "-c", script, folder, "one", "two words"];
    const { success, stdout } = new Deno.Command(program, { args, stderr: "inherit" }).outputSync();
    assert.deepEqual([success, new TextDecoder().decode(stdout)], [true, "one|two words|"]);
    const left = [...Deno.readDirSync(folder)].map(({ name }) => join(folder, name));
    assert.deepEqual(left, words.length > 0 ? [] : [join(folder, "said")]);
  }));
