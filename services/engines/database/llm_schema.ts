import type { Generated } from "kysely";
import type { Fixed } from "./columns.ts";

/** The tables of language models: their backends, what their calls took and what they may take. */
export interface LlmTables {
  llm_backends: LlmBackendsTable;
  llm_model_lists: LlmModelListsTable;
  llm_calls: LlmCallsTable;
  llm_usage: LlmUsageTable;
  llm_budgets: LlmBudgetsTable;
}

/** LLM backends made through the API; a provider's key is in none of its columns. */
export interface LlmBackendsTable {
  name: Fixed<string>;
  provider: string;
  base_url: string;
  api_key_env: string;
  models: string;
  allow: string;
  block: string;
  created_at: Fixed<number>;
}

/** The last list of models of a backend. */
export interface LlmModelListsTable {
  backend: Fixed<string>;
  /** The provider and the address that gave the list. */
  asked: string;
  models: string;
  queried_at: number;
}

/**
 * Calls of language models. A text is empty if there is nothing to say; costs are in millionths of a US
 * dollar.
 */
export interface LlmCallsTable {
  seq: Generated<number>;
  ended_at: Fixed<number>;
  milliseconds: Fixed<number>;
  /** The account, or the kind and the name of a caller without one: `bot:oracle`. */
  caller_key: Fixed<string>;
  caller_name: Fixed<string>;
  project_id: Fixed<string>;
  /** The slug that the project had. */
  project: Fixed<string>;
  ticket: Fixed<string>;
  backend: Fixed<string>;
  /** The model that the request named, else the one that answered. */
  model: Fixed<string>;
  response_model: Fixed<string>;
  streamed: Fixed<number>;
  outcome: Fixed<"completed" | "failed" | "cancelled">;
  /** Null if the provider did not report them. */
  input_tokens: Fixed<number | null>;
  output_tokens: Fixed<number | null>;
  cached_tokens: Fixed<number | null>;
  cache_write_tokens: Fixed<number | null>;
  /** Null if it is not known. */
  cost: Fixed<number | null>;
  /** What budgets count where the provider reported no tokens. */
  estimated_tokens: Fixed<number>;
  estimated_cost: Fixed<number>;
  /** What tells a call that a client reported from all others; null for one of the gateway. */
  report: Fixed<string | null>;
}

/** Calls of language models, added up by day. */
export interface LlmUsageTable {
  /** Days since 1970-01-01, in UTC. */
  day: Fixed<number>;
  caller_key: Fixed<string>;
  caller_name: string;
  /** An agent's type; empty for another caller. */
  caller_type: Fixed<string>;
  project_id: Fixed<string>;
  project: Fixed<string>;
  ticket: Fixed<string>;
  backend: Fixed<string>;
  model: Fixed<string>;
  calls: number;
  failed: number;
  cancelled: number;
  input_tokens: number;
  output_tokens: number;
  cached_tokens: number;
  cache_write_tokens: Generated<number>;
  cost: number;
  /** Calls whose cost is not known. */
  unpriced: number;
  estimated_tokens: number;
  estimated_cost: number;
  milliseconds: number;
}

/** What may be spent on calls of language models. */
export interface LlmBudgetsTable {
  scope: Fixed<"all" | "type" | "agent" | "project">;
  /** A type, the internal id of an account or of a project, or empty. */
  subject: Fixed<string>;
  period: Fixed<"day" | "month">;
  /** In 10⁻⁶ US dollars; null for no limit. */
  max_cost: number | null;
  max_tokens: number | null;
  warn_percent: number;
  set_by: string;
  set_at: number;
  /** When it last came so far. */
  warned_at: number | null;
  exceeded_at: number | null;
}
