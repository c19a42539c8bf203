/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
import { hasHash, loadSha3, type Sha3 } from "../codec/mod.ts";
import { type HashMemory, type HashSlot, NAME_BYTES, TURN } from "./hash_protocol.ts";
import { giveWay } from "../../../kernel/thread_priority.ts";

/** Checks the contents of a slot and writes the result there. */
function checkSlot({ state, contents, lengths, names, verdicts }: HashSlot, sha3: Sha3): void {
  const count = Atomics.load(state, 1);
  let start = 0;
  for (let i = 0; i < count; i++) {
    const name = names.subarray(i * NAME_BYTES, (i + 1) * NAME_BYTES);
    const hash = String.fromCharCode(...name.filter((digit) => digit !== 0));
    const end = start + lengths[i]!;
    verdicts[i] = hasHash(contents.subarray(start, end), hash, sha3) ? 0 : 1;
    start = end;
  }
  Atomics.store(state, 0, TURN.done);
  Atomics.notify(state, 0);
}

/** Checks slots until the end. */
function work({ signal, slots }: HashMemory, sha3: Sha3): void {
  for (;;) {
    const seen = Atomics.load(signal, 0);
    if (seen < 0) return;
    const given = slots.find(({ state }) => Atomics.load(state, 0) === TURN.given);
    if (given === undefined) Atomics.wait(signal, 0, seen);
    else checkSlot(given, sha3);
  }
}

/** The only message has the memory. */
function serve(): void {
  giveWay();
  self.onmessage = async ({ data }: MessageEvent<HashMemory>) => {
    const sha3 = await loadSha3();
    Atomics.store(data.isThere, 0, 1);
    work(data, sha3);
    self.close();
  };
}

serve();
