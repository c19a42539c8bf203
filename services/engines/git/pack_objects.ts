/** The objects of a small pack: all of them in memory, deltas applied. */
import { applyDelta } from "./delta.ts";
import { GitError } from "./error.ts";
import { hexOf, nameOfObject, type ObjectKind } from "./objects.ts";
import { type PackEntry, readPack } from "./pack_reader.ts";

/** An object. */
export interface GitObject {
  readonly kind: ObjectKind;
  readonly content: Uint8Array;
}

/** Most objects of such a pack, and most bytes of one. */
const MAX_OBJECTS = 2_000_000;
const MAX_BYTES = 2 ** 31 - 1;

/** What others are deltas of: a place in the pack, or a name. */
type Base = number | string;

interface WaitingDelta {
  readonly offset: number;
  readonly delta: Uint8Array;
}

/**
 * Reads the objects of a pack whose deltas have their bases in it.
 *
 * @returns the objects by name
 * @throws {GitError} it is malformed, or a base is missing
 */
export function objectsOf(pack: Uint8Array): Map<string, GitObject> {
  const objects = new Map<string, GitObject>();
  const places = new Map<number, GitObject>();
  const waiting = new Map<Base, WaitingDelta[]>();
  const add = (offset: number, object: GitObject) => {
    const found: { offset: number; object: GitObject }[] = [{ offset, object }];
    for (let next = found.pop(); next !== undefined; next = found.pop()) {
      const { kind, content } = next.object;
      const name = hexOf(nameOfObject(kind, content));
      objects.set(name, next.object);
      places.set(next.offset, next.object);
      for (const base of [next.offset, name]) {
        for (const { offset, delta } of waiting.get(base) ?? []) {
          found.push({ offset, object: { kind, content: applyDelta(content, delta, MAX_BYTES) } });
        }
        waiting.delete(base);
      }
    }
  };
  for (const { offset, form, content } of readPack(sourceOf(pack))) {
    if ("kind" in form) {
      add(offset, { kind: form.kind, content: new Uint8Array(content) });
      continue;
    }
    const base = baseOf(form);
    const known = typeof base === "number" ? places.get(base) : objects.get(base);
    if (known === undefined) {
      const others = waiting.get(base) ?? [];
      waiting.set(base, [...others, { offset, delta: new Uint8Array(content) }]);
    } else {add(offset, {
        kind: known.kind,
        content: applyDelta(known.content, content, MAX_BYTES),
      });}
  }
  if (waiting.size > 0) {
    throw new GitError("The pack has a delta of an object that it does not have");
  }
  return objects;
}

function baseOf(form: Exclude<PackEntry["form"], { readonly kind: ObjectKind }>): Base {
  return "baseOffset" in form ? form.baseOffset : hexOf(form.baseName);
}

function sourceOf(pack: Uint8Array) {
  const read = (at: number, into: Uint8Array) => {
    const part = pack.subarray(at, at + into.length);
    into.set(part);
    return part.length;
  };
  return { read, length: pack.length, maxEntries: MAX_OBJECTS, maxBytes: MAX_BYTES };
}
