import { giveBack } from "../../../kernel/held_bytes.ts";
import { hasManyIndices } from "../../../kernel/validation/mod.ts";

/**
 * A result on its way out of a worker. Plain data travels as JSON, which costs the main thread less
 * than half the time of a structured clone. Bytes travel as they are.
 */
export type Parcel =
  | { readonly kind: "json"; readonly text: string }
  | { readonly kind: "json-bytes"; readonly bytes: Uint8Array<ArrayBuffer> }
  /** Bytes, or an object that has bytes among its own properties. */
  | { readonly kind: "bytes"; readonly value: unknown }
  | { readonly kind: "clone"; readonly value: unknown }
  | { readonly kind: "nothing" };

/** Larger results are transferred to the main thread, smaller ones copied. */
const TRANSFER_BYTES = 256 * 1024;

/** Packs plain data as the bytes of JSON. */
export function packJson(result: unknown): { parcel: Parcel; transfer: ArrayBuffer[] } {
  const value = new TextEncoder().encode(JSON.stringify(result ?? null));
  return { parcel: { kind: "bytes", value }, transfer: transferable([value]) };
}

/** Packs a result: plain data, bytes, or an object of plain data with bytes in some properties. */
export function pack(result: unknown): { parcel: Parcel; transfer: ArrayBuffer[] } {
  if (result === undefined) return { parcel: { kind: "nothing" }, transfer: [] };
  if (result instanceof Uint8Array) {
    const bytes = result.slice();
    return { parcel: { kind: "bytes", value: bytes }, transfer: transferable([bytes]) };
  }
  if (hasBytes(result)) return packProperties(result);
  const text = JSON.stringify(result);
  if (hasManyIndices(text)) return { parcel: { kind: "clone", value: result }, transfer: [] };
  if (text.length <= TRANSFER_BYTES) return { parcel: { kind: "json", text }, transfer: [] };
  const bytes = new TextEncoder().encode(text);
  return { parcel: { kind: "json-bytes", bytes }, transfer: [bytes.buffer] };
}

/** Unpacks a result. */
export function unpack(parcel: Parcel): unknown {
  switch (parcel.kind) {
    case "json":
      return JSON.parse(parcel.text);
    case "json-bytes":
      return JSON.parse(takeText(parcel.bytes));
    case "bytes":
    case "clone":
      return parcel.value;
    case "nothing":
      return undefined;
  }
}

/** The text of bytes, which nobody needs any more. */
function takeText(bytes: Uint8Array<ArrayBuffer>): string {
  const text = new TextDecoder().decode(bytes);
  giveBack(bytes);
  return text;
}

function hasBytes(result: unknown): result is object {
  if (typeof result !== "object" || result === null) return false;
  return Object.values(result).some((value) => value instanceof Uint8Array);
}

/** Bytes are copied once, because the engine's caches may share them. */
function packProperties(result: object): { parcel: Parcel; transfer: ArrayBuffer[] } {
  const copies: Uint8Array<ArrayBuffer>[] = [];
  const entries = Object.entries(result).map(([name, value]: [string, unknown]) => {
    if (!(value instanceof Uint8Array)) return [name, value];
    const copy = value.slice();
    copies.push(copy);
    return [name, copy];
  });
  const value: unknown = Object.fromEntries(entries);
  return { parcel: { kind: "bytes", value }, transfer: transferable(copies) };
}

function transferable(copies: readonly Uint8Array<ArrayBuffer>[]): ArrayBuffer[] {
  return copies.filter(({ length }) => length > TRANSFER_BYTES).map(({ buffer }) => buffer);
}
