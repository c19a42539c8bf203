/** `git fast-export` streams, as typed commands. Independent of Fossil. */
export {
  CommandReader,
  type GitChange,
  type GitCommand,
  type GitCommit,
  type GitTag,
} from "./commands.ts";
export { formatPath, readPath } from "./path.ts";
export { readPieces, StreamReader } from "./reader.ts";
export { decodeText, encodeText, readable } from "./text.ts";
