/**
 * The services as tools of the Model Context Protocol.
 */
export { createMcpHandler, type McpHandler, type McpServices } from "./http.ts";
export { instructionsFor } from "./instructions.ts";
