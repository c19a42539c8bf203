import { Buffer } from "node:buffer";
import { NAME_BYTES, OBJECT_KINDS, type ObjectKind } from "../../../git/mod.ts";
import { type Draft, type DraftObject, keyOf } from "./draft.ts";

/** Bytes before the content of an object: its name, its kind, its length. */
const HEAD_BYTES = NAME_BYTES + 1 + 4;

interface Named extends DraftObject {
  readonly name: Uint8Array;
}

/** A draft of few bytes in memory, which can be sent. */
export class ShortDraft implements Draft {
  readonly #objects: Named[] = [];
  readonly #rows = new Map<string, number>();
  readonly #deltas: Uint8Array[] = [];
  bytes = 0;

  /** @param packed what {@linkcode pack} has made */
  static from(packed: Uint8Array): ShortDraft {
    const draft = new ShortDraft();
    const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.length);
    for (let at = 0; at < bytes.length;) {
      const name = bytes.subarray(at, at + NAME_BYTES);
      const kind = OBJECT_KINDS[bytes[at + NAME_BYTES]!]!;
      const start = at + HEAD_BYTES;
      at = start + bytes.readUInt32BE(at + NAME_BYTES + 1);
      draft.add(name, { kind, content: bytes.subarray(start, at) });
    }
    return draft;
  }

  /** All of it as bytes. */
  pack(): Uint8Array {
    const packed = Buffer.alloc(this.size * HEAD_BYTES + this.bytes);
    let at = 0;
    for (const { name, kind, content } of this.#objects) {
      packed.set(name, at);
      packed[at + NAME_BYTES] = OBJECT_KINDS.indexOf(kind);
      packed.writeUInt32BE(content.length, at + NAME_BYTES + 1);
      packed.set(content, at + HEAD_BYTES);
      at += HEAD_BYTES + content.length;
    }
    return packed;
  }

  get size(): number {
    return this.#objects.length;
  }

  add(name: Uint8Array, { kind, content }: DraftObject): number {
    const known = this.rowOf(name);
    if (known !== 0) return known;
    const row = this.#objects.push({ name, kind, content });
    this.#rows.set(keyOf(name), row);
    this.bytes += content.length;
    return row;
  }

  rowOf(name: Uint8Array): number {
    return this.#rows.get(keyOf(name)) ?? 0;
  }

  at(row: number): DraftObject {
    return this.#objects[row - 1]!;
  }

  nameAt(row: number): Uint8Array {
    return this.#objects[row - 1]!.name;
  }

  get(name: Uint8Array): DraftObject | null {
    return this.#objects[this.rowOf(name) - 1] ?? null;
  }

  kindOf(name: Uint8Array): ObjectKind | null {
    return this.get(name)?.kind ?? null;
  }

  keep(delta: Uint8Array): number {
    return this.#deltas.push(delta);
  }

  kept(row: number): Uint8Array {
    return this.#deltas[row - 1]!;
  }

  [Symbol.dispose](): void {}
}
