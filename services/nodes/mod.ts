/** Several servers with one database of PostgreSQL, on one IRC network. */
export { Draining, type DrainingOptions } from "./draining.ts";
export { NodeOperations, type NodeOperationsOptions, type NodeReport } from "./node_operations.ts";
export {
  agreeOnKeys,
  type KeyFiles,
  type KnownKeys,
  NODE_KEY_FILES,
  type NodeKey,
  readKnownKeys,
  requireSameKeys,
} from "./keys.ts";
export { type CurrencyOptions, watchCurrency } from "./currency.ts";
export { forgetNodeSettings } from "./settings.ts";
export { Leadership, type LeadershipOptions, type LeadingWork } from "./leadership.ts";
export { type NodeLinks, type NodeLinksOptions, openNodeLinks } from "./links.ts";
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
export { nobodyRuns, notRunning } from "./away.ts";
export { NodeClient, type NodeClientOptions, type NodeRequest } from "./node_client.ts";
export { type NodeRecord, Nodes, type NodesOptions, type NodeView } from "./nodes.ts";
export { NodeNotes, type NodeNotesOptions, NOTES_TARGET } from "./notes.ts";
