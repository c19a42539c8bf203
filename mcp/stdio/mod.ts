/** MCP on standard input and output. */
export { ASKED_TOOLS } from "../asked_tools.ts";
export { selectTools } from "../tool_sets.ts";
export { isRecord, RPC_ERROR } from "../json_rpc.ts";
export { NotDelivered, type OutgoingMessage, ServerAway } from "./delivery.ts";
export type { Memory } from "./remembered_answers.ts";
export { serveStdio, type StdioOptions } from "./server.ts";
