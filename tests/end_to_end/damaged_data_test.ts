/** A start on data that are damaged ends with one sentence, which leads to `muster doctor`. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { type Finished, runMuster, startProgram } from "../support/program.ts";
import { withFolder } from "../support/temporary.ts";

const PORTS = {
  MUSTER_API_ADDR: "127.0.0.1:0",
  MUSTER_MCP_ADDR: "127.0.0.1:0",
  MUSTER_IRC_LISTEN: "127.0.0.1:0",
};

/** Turns the bits of some bytes of a file. */
function flip(path: string, place: number): void {
  using file = Deno.openSync(path, { read: true, write: true });
  const bytes = new Uint8Array(16);
  file.seekSync(place, Deno.SeekMode.Start);
  file.readSync(bytes);
  file.seekSync(place, Deno.SeekMode.Start);
  file.writeSync(bytes.map((byte) => byte ^ 0xff));
}

const becomesFolder = (path: string) => {
  Deno.removeSync(path, { recursive: true });
  Deno.mkdirSync(path);
};

const DAMAGES: readonly (readonly [name: string, file: string, harm: (path: string) => void])[] = [
  ["a schema that cannot be read", "muster.db", (path) => flip(path, 100)],
  ["a damaged page of the database", "muster.db", (path) => flip(path, 4096)],
  ["a folder in place of the database", "muster.db", becomesFolder],
  ["a damaged history", "history.db", (path) => flip(path, 100)],
  ["a folder in place of the history", "history.db", becomesFolder],
];

/** One sentence for people, without a stack. */
function assertSentence({ code, stderr }: Finished, name: string): void {
  assert.equal(code, 1, `${name}: ${stderr}`);
  const lines = stderr.trim().split("\n").filter((line) => !line.startsWith("{"));
  assert.equal(lines.length, 1, `${name}: ${stderr}`);
  assert.match(lines[0] ?? "", /muster doctor/, name);
}

Deno.test("a start on damaged data ends with one sentence", async () => {
  await withFolder(async (folder) => {
    const healthy = join(folder, "healthy");
    await Deno.mkdir(healthy);
    {
      await using program = await startProgram({ folder: healthy });
      assert.equal(await program.stop(), 0);
    }
    for (const [index, [name, file, harm]] of DAMAGES.entries()) {
      const home = join(folder, `home${index}`);
      await new Deno.Command("cp", { args: ["-a", healthy, home] }).output();
      harm(join(home, "data", file));
      assertSentence(await runMuster(["serve"], { folder: home, environment: PORTS }), name);
    }
  });
});
