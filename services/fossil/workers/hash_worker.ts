/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
import { hasHash, loadSha3, type Sha3 } from "../codec/mod.ts";
import { type HashItem, type HashRequest, SLOT, type SlotMemory } from "./hash_protocol.ts";

/** Checks what lies in a slot, and says so there: whoever gave it does not read messages. */
function checkSlot(memory: SlotMemory, items: readonly HashItem[], sha3: Sha3): void {
  const verdicts = new Uint8Array(memory.verdicts);
  let start = 0;
  for (const [index, { hash, bytes }] of items.entries()) {
    const content = new Uint8Array(memory.contents, start, bytes);
    verdicts[index] = hasHash(content, hash, sha3) ? 0 : 1;
    start += bytes;
  }
  const state = new Int32Array(memory.state);
  Atomics.store(state, 0, SLOT.done);
  Atomics.notify(state, 0);
}

async function serve(): Promise<void> {
  const loading = loadSha3();
  let slots: readonly SlotMemory[] = [];
  self.onmessage = async ({ data }: MessageEvent<HashRequest>) => {
    if (data.kind === "start") {
      slots = data.slots;
      return;
    }
    const memory = slots[data.slot];
    if (memory !== undefined) checkSlot(memory, data.items, await loading);
  };
  await loading;
}

await serve();
