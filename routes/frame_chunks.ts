/** Waiting frames are sent together, up to this many bytes. */
export const CHUNK_BYTES = 65_536;

/** The frames from an index on that are sent together. */
export function framesOfChunk(frames: readonly Uint8Array[], from: number): readonly Uint8Array[] {
  let to = from;
  for (let bytes = 0; to < frames.length && bytes < CHUNK_BYTES; to++) {
    bytes += frames[to]?.byteLength ?? 0;
  }
  return frames.slice(from, to);
}
