export const AGENT_TYPES = ["worker", "orchestrator", "observer", "operator"] as const;

/** An agent's type, which decides its status in its channels. */
export type AgentType = (typeof AGENT_TYPES)[number];
