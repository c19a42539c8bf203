/** Several servers with one database of PostgreSQL, on one IRC network. */
export {
  agreeOnKeys,
  type KeyFiles,
  type KnownKeys,
  NODE_KEY_FILES,
  type NodeKey,
  readKnownKeys,
  requireSameKeys,
} from "./keys.ts";
export { forgetNodeSettings } from "./settings.ts";
export { Leadership, type LeadershipOptions, type LeadingWork } from "./leadership.ts";
export { type NodeRecord, Nodes, type NodesOptions, type NodeView } from "./nodes.ts";
