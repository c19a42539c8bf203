/** Bytes, hashes, dates and text as Fossil's file format has them. Pure functions, no SQLite. */
export { MAX_ARTIFACT_BYTES, packBlob, packedLength, unpackBlob, unpackSent } from "./blob.ts";
export { createDelta } from "./create_delta.ts";
export { applyDelta, checksum, type DeltaParts, deltaTargetLength, readDelta } from "./delta.ts";
export {
  type ContentNames,
  HASH_POLICIES,
  hasHash,
  type HashPolicy,
  isArtifactHash,
  isHex,
  loadSha3,
  md5,
  namesOf,
  sha1,
  type Sha3,
  sha3,
} from "./hash.ts";
export { formatDate, fromJulianDay, parseDate, toJulianDay } from "./julian.ts";
export {
  compareUtf8,
  decodeUtf8,
  encodeUtf8,
  escapeHtml,
  escapeToken,
  joinBytes,
  unescapeToken,
} from "./text.ts";
