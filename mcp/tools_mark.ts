/**
 * The header by which `muster mcp` learns that its caller's tools have changed. A request that has
 * it gets an answer that has it; its value stands for the set of tools that the caller may call.
 * Clients of HTTP do not send it, and cost nothing.
 */
export const TOOLS_MARK = "Muster-Tools";
