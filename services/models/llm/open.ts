import type { Database } from "../../engines/database/mod.ts";
import { type Scheduler, systemScheduler } from "../../kernel/scheduler.ts";
import { Backends, type BackendsOptions } from "./backends.ts";
import type { Environment } from "./credentials.ts";
import { Gateway, type GatewayHalts, type GatewayOptions } from "./gateway.ts";

/** How long a backend may take to list its models. */
const MODELS_MILLISECONDS = 10_000;

/** What others use of the LLM services. */
export interface Llm {
  readonly backends: Backends;
  readonly gateway: Gateway;
}

/** The section `llm` of the configuration. */
export interface LlmConfig {
  readonly backends: BackendsOptions["configured"];
  readonly key_variables: readonly string[];
  readonly limits: {
    readonly calls: number;
    readonly first_byte_seconds: number;
    readonly idle_seconds: number;
    readonly total_seconds: number;
    readonly answer_bytes: number;
  };
}

export interface LlmOptions {
  readonly database: Database;
  readonly config: LlmConfig;
  /** The source of the providers' keys. */
  readonly environment: Environment;
  readonly ledger: GatewayOptions["ledger"];
  readonly slots: GatewayOptions["slots"];
  readonly halts: GatewayHalts;
  readonly scheduler?: Scheduler;
}

/** Opens the LLM services. Close the gateway when it is no longer needed. */
export function openLlm(
  { database, config, environment, ledger, slots, halts, scheduler = systemScheduler }: LlmOptions,
): Llm {
  const { limits } = config;
  const clock = () => scheduler.now();
  const { key_variables: keyVariables } = config;
  const backends = new Backends({
    database,
    configured: config.backends,
    environment,
    keyVariables,
    clock,
  });
  const gateway = new Gateway({
    backends,
    environment,
    keyVariables,
    limits: {
      modelsMilliseconds: MODELS_MILLISECONDS,
      firstByteMilliseconds: limits.first_byte_seconds * 1000,
      idleMilliseconds: limits.idle_seconds * 1000,
      totalMilliseconds: limits.total_seconds * 1000,
      answerBytes: limits.answer_bytes,
      calls: limits.calls,
    },
    scheduler,
    ledger,
    slots,
    halts,
  });
  return { backends, gateway };
}
