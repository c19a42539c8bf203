/** Several servers with one database of PostgreSQL, on one IRC network. */
export { Leadership, type LeadershipOptions, type LeadingWork } from "./leadership.ts";
export { type NodeRecord, Nodes, type NodesOptions, type NodeView } from "./nodes.ts";
