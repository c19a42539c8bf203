/** Several servers with one database of PostgreSQL, on one IRC network. */
export { Draining, type DrainingOptions } from "./draining.ts";
export { Leadership, type LeadershipOptions, type LeadingWork } from "./leadership.ts";
export { NodeOperations, type NodeOperationsOptions, type NodeReport } from "./node_operations.ts";
export { type NodeRecord, Nodes, type NodesOptions, type NodeView } from "./nodes.ts";
