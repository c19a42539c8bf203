/** MCP on standard input and output. */
export { RPC_ERROR } from "../json_rpc.ts";
export { NotDelivered, type OutgoingMessage, serveStdio, type StdioOptions } from "./server.ts";
