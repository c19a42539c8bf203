/** Git's objects, packs and protocol: bytes in, bytes out. Knows nothing of where they are kept. */
export {
  type AdvertisedRef,
  type Advertisement,
  advertiseRefs,
  capabilitiesOf,
  listRefs,
  oldCapabilitiesOf,
} from "./answers.ts";
export { applyDelta, deltaLengths, DeltaWriter } from "./delta.ts";
export { GitError } from "./error.ts";
export {
  fetchRequest,
  listRequest,
  PackAnswer,
  readGreeting,
  readRefs,
  readSizes,
  type RemoteGreeting,
  type RemoteRef,
  type RemoteRefs,
  sizesRequest,
  type Wanted,
} from "./fetch_client.ts";
export { EVERYTHING, type ObjectFilter, parseFilter } from "./filter.ts";
export * from "./objects.ts";
export { type EntryForm, PACK_HEADER_BYTES, PackWriter } from "./pack.ts";
export { type GitObject, objectsOf } from "./pack_objects.ts";
export { type PackEntry, readPack } from "./pack_reader.ts";
export * from "./pkt_line.ts";
export * from "./push_client.ts";
export * from "./receive_pack.ts";
export * from "./upload_pack.ts";
export { type CommitSignature, signatureOf } from "./signature.ts";
export { MAX_SSH_KEY, parseSshKey, type SshKey } from "./ssh_key.ts";
