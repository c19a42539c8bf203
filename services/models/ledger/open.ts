import type { Roster } from "../../people/agents/mod.ts";
import type { Database } from "../../engines/database/mod.ts";
import type { Log } from "../../kernel/log.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import { Attribution, type AttributionOptions, Ledger } from "./ledger.ts";
import { BudgetNames, BudgetNeeds, Budgets } from "./budgets.ts";
import { CallReader, UsageReader } from "./usage.ts";
import { LedgerRetention } from "./call_store.ts";
import { type Price, PRICE_LIST, Prices } from "./prices.ts";
import { Spending } from "./spending.ts";

/** How old what was spent may be if other nodes spend too, in milliseconds. */
const SHARED_AGE = 2000;

/** What others use of the ledger. */
export interface LedgerServices {
  readonly ledger: Ledger;
  readonly budgets: Budgets;
  readonly budgetNames: BudgetNames;
  readonly budgetNeeds: BudgetNeeds;
  readonly usage: UsageReader;
  readonly calls: CallReader;
  /** Starts separately. */
  readonly retention: LedgerRetention;
}

export interface LedgerServicesOptions extends AttributionOptions {
  readonly database: Database;
  readonly roster: Pick<Roster, "find" | "get">;
  readonly config: {
    readonly prices: readonly Price[];
    readonly ledger: {
      readonly max_calls: number;
      readonly max_days: number;
      readonly max_usage_days: number;
    };
  };
  readonly scheduler: Scheduler;
  readonly log: Log;
}

/** Opens the ledger. Adds what must be closed to the stack. */
export async function openLedger(
  options: LedgerServicesOptions,
  started: AsyncDisposableStack,
): Promise<LedgerServices> {
  const { database, roster, projects, config, scheduler, log } = options;
  const clock = () => scheduler.now();
  const maxAge = database.peers === null ? Infinity : SHARED_AGE;
  const spending = new Spending(database, clock, maxAge);
  const names = new BudgetNames({ agents: roster, projects });
  const budgets = await Budgets.open({ database, spending, names, clock });
  const ledger = new Ledger({
    database,
    prices: new Prices([...config.prices, ...PRICE_LIST]),
    spending,
    budgets,
    attribution: new Attribution(options),
    typeOf: (id) => roster.get(id)?.type ?? null,
    scheduler,
    log,
  });
  started.defer(() => ledger.close());
  const { max_calls: maxCalls, max_days: maxDays, max_usage_days: maxUsageDays } = config.ledger;
  const retention = new LedgerRetention({
    database,
    bounds: { maxCalls, maxDays, maxUsageDays },
    scheduler,
    log,
  });
  return {
    ledger,
    budgets,
    budgetNames: names,
    budgetNeeds: new BudgetNeeds({ budgets, nameOf: (name) => names.nameOf(name) }),
    usage: new UsageReader(database, clock),
    calls: new CallReader(database),
    retention,
  };
}
