/** What claims need, and what callers ask of them. */
import type { Slots } from "../../people/agents/mod.ts";
import type { Database } from "../../engines/database/mod.ts";
import type { AccountDirectory, Caller } from "../../people/identity/mod.ts";
import type { Log } from "../../kernel/log.ts";
import type { Actor, ProjectRepositories, Projects } from "../projects/mod.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import type { Holder } from "./records.ts";

export interface ClaimsOptions {
  readonly database: Database;
  readonly projects: Projects;
  readonly repositories: ProjectRepositories;
  readonly accounts: AccountDirectory;
  readonly scheduler: Scheduler;
  readonly log: Log;
  /** How many slots each holder has, in all projects together. */
  readonly slots: Pick<Slots, "limitOf">;
}

/** Who acts on a ticket, and under which generation, if the request names one. */
export interface FenceRequest {
  /** The whole id of the ticket. */
  readonly ticket: string;
  /** The holder on whose behalf the write is made. */
  readonly actor: Holder;
  readonly generation?: number | undefined;
}

/** Who asks for a claim or its end. */
export interface ClaimRequest {
  readonly caller: Caller;
  readonly actor: Actor;
  readonly generation?: number | undefined;
}
