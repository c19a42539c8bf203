import type { Slots } from "../../people/agents/mod.ts";
import { type LedgerServices, openLedger } from "../../models/ledger/mod.ts";
import { type Llm, openLlm } from "../../models/llm/mod.ts";
import { type CallExport, openCallExport } from "../telemetry/mod.ts";
import type { Hosting } from "./hosting.ts";
import { startLeading } from "./leading.ts";
import type { People } from "./people.ts";
import type { Stores } from "./stores.ts";

/** Language models, and what their calls took. */
export interface Models {
  readonly llm: Llm;
  /** What calls of models took, and budgets. */
  readonly accounting: LedgerServices;
  /** Null if calls are exported nowhere. */
  readonly callExport: CallExport | null;
}

export interface ModelSurroundings {
  readonly people: People;
  readonly hosting: Hosting;
  readonly slots: Slots;
  readonly environment: (variable: string) => string | undefined;
}

/** Opens the ledger of calls, their export, and the models that they reach. */
export async function openModels(
  stores: Stores,
  { people, hosting, slots, environment }: ModelSurroundings,
  started: AsyncDisposableStack,
): Promise<Models> {
  const { config: { llm: config }, database, scheduler, log } = stores;
  const { halts, roster } = people.agents;
  const accounting = await openLedger(
    { ...hosting, database, roster, config, scheduler, log },
    started,
  );
  const { ledger, retention } = accounting;
  await startLeading(stores, retention, started);
  const callExport = await openCallExport(
    { config: config.otlp, environment, ledger, scheduler, log },
    started,
  );
  const llm = openLlm({ database, config, environment, ledger, slots, scheduler, halts });
  started.defer(() => llm.gateway.close());
  return { llm, accounting, callExport };
}
