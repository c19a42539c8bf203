/**
 * The services as tools of the Model Context Protocol.
 */
export { createMcpHandler, type McpHandler } from "./http.ts";
export type { McpServices } from "./protocols.ts";
export { instructionsFor } from "./instructions.ts";
