/** `muster fossil` on a disk that is full. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { encode, Scratch } from "../services/engines/fossil/support/fossil.ts";
import { musterWords, runMuster } from "../support/program.ts";
import { runOn, smallDisk } from "../support/small_disk.ts";

/** The script's arguments are the words that run muster. */
const SCRIPT = `
  cp one.fossil disk/
  "$@" fossil commit disk/one.fossil --from large -m large 2>&1; echo "commit: $?"
  cat stream | "$@" fossil import disk/new.fossil 2>&1; echo "import: $?"
  "$@" fossil verify disk/one.fossil; ls disk
  cat /dev/zero > disk/filler; truncate --size=-64K disk/filler
  "$@" fossil search disk/one.fossil hello 2>&1; echo "search: $?"
  "$@" fossil rebuild disk/one.fossil 2>&1; echo "rebuild: $?"
  rm -f disk/filler disk/one.index*
  "$@" fossil verify disk/one.fossil; ls disk
`;
/** What a command says of a file that has no room. */
const full = (path: string) => `"${path}" does not fit on the disk, which is full`;

Deno.test({
  name: "a command reports a full disk and leaves the repository whole, with no file beside it",
  ...smallDisk(),
  async fn() {
    using scratch = new Scratch();
    const at = { folder: scratch.folder, environment: { USER: "alice" } };
    const large = Buffer.concat(
      Array.from({ length: 70 }, () => crypto.getRandomValues(new Uint8Array(60_000))),
    );
    scratch.write("large/b.bin", large);
    scratch.write(
      "stream",
      Buffer.concat([encode(`blob\nmark :1\ndata ${large.length}\n`), large]),
    );
    scratch.write("small/a.txt", "hello");
    Deno.mkdirSync(scratch.path("disk"));
    await runMuster(["fossil", "init", "one.fossil"], at);
    await runMuster(["fossil", "commit", "one.fossil", "--from", "small", "-m", "small"], at);

    const { stdout, stderr } = runOn(scratch.path("disk"), 2, SCRIPT, musterWords());
    const lines = stdout.trimEnd().split("\n");
    assert.deepEqual(
      lines,
      [
        ...[full("disk/one.fossil"), "commit: 1"],
        ...[full("disk/new.fossil"), "import: 1"],
        ...["3 artifacts, all whole", "one.fossil"],
        ...[full("disk/one.fossil"), "search: 1"],
        ...[full("disk/one.fossil"), "rebuild: 1"],
        ...["3 artifacts, all whole", "one.fossil"],
      ],
      stderr,
    );
  },
});
