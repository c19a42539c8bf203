/** Several servers with one database of PostgreSQL, on one IRC network. */
export {
  type CurrencyOptions,
  Draining,
  type DrainingOptions,
  Leadership,
  type LeadershipOptions,
  type LeadingWork,
  watchCurrency,
} from "./leadership.ts";
export { NodeOperations, type NodeOperationsOptions, type NodeReport } from "./node_operations.ts";
export {
  agreeOnKeys,
  forgetNodeSettings,
  type KeyFiles,
  type KnownKeys,
  NODE_KEY_FILES,
  type NodeKey,
  readKnownKeys,
  requireSameKeys,
} from "./keys.ts";
export {
  type NodeLinks,
  type NodeLinksOptions,
  NodeNotes,
  type NodeNotesOptions,
  NOTES_TARGET,
  openNodeLinks,
} from "./notes.ts";
export {
  type Mark,
  MARK_HEADER,
  type MarkContent,
  type MarkedRequest,
  Marks,
  type MarksOptions,
  type RefusedMark,
  type Verified,
} from "./marks.ts";
export { Nodes, type NodesOptions, type NodeView } from "./nodes.ts";
export { NodeClient, type NodeClientOptions, type NodeRequest } from "./node_client.ts";
