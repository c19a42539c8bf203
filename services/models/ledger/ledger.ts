import {
  type Change,
  type Database,
  Duplicate,
  type NewEvent,
} from "../../engines/database/mod.ts";
import { newEvent } from "../../engines/events/mod.ts";
import { Invalid, NotFound, Unavailable } from "../../kernel/errors.ts";
import { type Caller, originOf, type Principal } from "../../people/identity/mod.ts";
import { DeferredWriter } from "../../kernel/deferred_writer.ts";
import type { Log } from "../../kernel/log.ts";
import { accessProject, type Project, type Projects } from "../../work/projects/mod.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import type { Claims, Tickets } from "../../work/tickets/mod.ts";
import type { Budgets } from "./budgets.ts";
import { recording } from "./call_store.ts";
import type { ReportedCall } from "./otlp.ts";
import type { PricedModel, Prices } from "./prices.ts";
import {
  type Amount,
  chargeOf,
  dayOf,
  type FinishedCall,
  type LedgerEntry,
  NOTHING,
  REPORTED,
  type Spender,
  spenderOf,
  type Work,
} from "./records.ts";
import { countedFor, countedOf, type Spending } from "./spending.ts";

/** Distinct models of one day and kind with sums of their own: a request may name any. */
const MAX_MODELS = 500;

/** Calls of today and reports of two days are recorded; the rest are of the day before. */
const MAX_MODEL_KINDS = 4;

/** Longest name of a model in the ledger. */
const MAX_MODEL_LENGTH = 128;

/** Reported calls of one transaction. */
const REPORTS_AT_ONCE = 64;

/** How far back a reported call may have ended, in milliseconds. */
const MAX_REPORT_AGE = 86_400_000;

/** What a call may take at most, as far as its request tells. */
export interface Forecast {
  readonly provider: string;
  readonly model: string | null;
  readonly input: number;
  readonly output: number;
}

/** A call that may run. */
export interface Admission {
  readonly spender: Spender;
  readonly work: Work | null;
  /** Ends what is reserved for it. */
  readonly release: () => void;
}

interface LedgerOptions {
  readonly database: Database;
  readonly prices: Prices;
  readonly spending: Spending;
  readonly budgets: Budgets;
  readonly attribution: Attribution;
  /** The type of an agent; null if there is none of this id. */
  readonly typeOf: (accountId: string) => string | null;
  readonly scheduler: Scheduler;
  readonly log: Log;
}

/**
 * The ledger of calls of models. A call's row, the sums of its day and its event are one transaction,
 * for which the end of the answer waits. If the disk refuses it, the caller gets the answer, for which
 * somebody pays already; the row is written again and again until it is on disk, and no further call
 * begins before. A call that runs when the program is killed has no row, as one whose row waits.
 */
export class Ledger {
  readonly #options: LedgerOptions;
  readonly #listeners = new Set<(entry: LedgerEntry) => void>();
  readonly #writes: DeferredWriter;
  readonly #unwritten: Change[] = [];
  /** Those that were named, by their day and kind; the last one used is at the end. */
  readonly #models = new Map<string, Set<string>>();
  #lost = 0;

  constructor(options: LedgerOptions) {
    this.#options = options;
    this.#writes = new DeferredWriter({
      scheduler: options.scheduler,
      hasWaiting: () => this.#unwritten.length > 0,
      writeBatch: () => this.#writeAgain(),
    });
  }

  /** Calls that are in no row, because the database never takes it. */
  get lost(): number {
    return this.#lost;
  }

  /**
   * Finds what a call is for.
   *
   * @param ticket what the request names, or null
   * @throws Invalid, NotFound if there is no such ticket for the caller
   */
  async workOf(caller: Caller, ticket: string | null): Promise<Work | null> {
    await this.#options.spending.ready();
    return await this.#options.attribution.workOf(caller.principal, ticket);
  }

  /**
   * Admits a call, and reserves in its budgets what it may take.
   *
   * @param forecast computed only if there is a budget
   * @throws TooMany if a budget is used up, Unavailable while earlier calls cannot be recorded
   */
  admit(caller: Caller, work: Work | null, forecast: () => Forecast): Admission {
    const { budgets, spending, typeOf } = this.#options;
    if (this.#unwritten.length > 0) {
      throw new Unavailable("Calls of models cannot be recorded at the moment, so none begins");
    }
    const spender = spenderOf(caller.principal, typeOf);
    const counted = countedFor(spender, work);
    if (!budgets.binds(counted)) return { spender, work, release: () => {} };
    budgets.require(counted);
    const release = spending.reserve(counted, this.#amountOf(forecast()));
    return { spender, work, release };
  }

  /** Records a call that is over; resolves when it is on disk, or when the disk refused it. */
  async record(caller: Caller, admission: Admission, call: FinishedCall): Promise<void> {
    const { database, budgets, spending, log } = this.#options;
    admission.release();
    const entry = this.#entryOf(admission, call);
    const counted = countedOf(entry);
    spending.add(counted, chargeOf(entry));
    const marking = budgets.marking(counted);
    const change = {
      statements: [...recording(database, entry), ...marking.statements],
      events: [this.#calledEvent(caller, call), ...marking.events],
    };
    for (const listener of this.#listeners) listener(entry);
    try {
      await database.commit(change);
    } catch (error) {
      log.warn("A call of a model is not in the ledger yet", { backend: call.backend, error });
      this.#unwritten.push(change);
      this.#writes.schedule();
    }
  }

  /**
   * Records calls that a client made without the gateway, each once, however often it is reported.
   * They count in the caller's own budgets alone.
   *
   * @param ticket as of {@link workOf}
   * @throws Invalid, NotFound like {@link workOf}; Unavailable if the disk refuses them, so that the
   * client sends them again
   */
  async report(
    caller: Caller,
    calls: readonly ReportedCall[],
    ticket: string | null,
  ): Promise<void> {
    if (calls.length === 0) return;
    const work = await this.workOf(caller, ticket);
    const spender = spenderOf(caller.principal, this.#options.typeOf);
    // Others have their turn in between.
    for (let at = 0; at < calls.length; at += REPORTS_AT_ONCE) {
      const entries = new Map(
        calls.slice(at, at + REPORTS_AT_ONCE).map((call) => {
          const entry = this.#reported(call, spender, work);
          return [entry.report, entry];
        }),
      );
      await this.#commitUnknown(caller, [...entries.values()]);
    }
  }

  /**
   * Calls a listener with every call through the gateway that is over.
   *
   * @param listener must not throw
   */
  onRecorded(listener: (entry: LedgerEntry) => void): void {
    this.#listeners.add(listener);
  }

  /** Writes what the disk refused, if it takes it now. */
  async close(): Promise<void> {
    this.#writes.stop();
    if (this.#unwritten.length === 0 || await this.#writes.write()) return;
    this.#options.log.error("The last calls of models are not in the ledger", {
      calls: this.#unwritten.length,
    });
  }

  /** Those that are not in the ledger yet. */
  async #unknown(entries: readonly LedgerEntry[]): Promise<readonly LedgerEntry[]> {
    const reports = entries.map(({ report }) => report);
    const rows = await this.#options.database.tables.selectFrom("llm_calls").select("report")
      .where("report", "in", reports).execute();
    const known = new Set(rows.map(({ report }) => report));
    return entries.filter(({ report }) => !known.has(report));
  }

  async #commitUnknown(caller: Caller, entries: readonly LedgerEntry[]): Promise<void> {
    const unknown = await this.#unknown(entries);
    try {
      await this.#commitReports(caller, unknown);
    } catch (error) {
      if (!(error instanceof Duplicate)) throw error;
      // The same was sent twice at once, so that fewer are unknown now.
      await this.#commitUnknown(caller, unknown);
    }
  }

  async #commitReports(caller: Caller, entries: readonly LedgerEntry[]): Promise<void> {
    const { database, budgets, spending } = this.#options;
    const [first] = entries;
    if (first === undefined) return;
    const counted = countedOf(first);
    await database.commit({
      statements: entries.flatMap((entry) => recording(database, entry)),
      events: entries.map((entry) => this.#calledEvent(caller, entry)),
    });
    for (const entry of entries) spending.add(counted, chargeOf(entry));
    const marking = budgets.marking(counted);
    if (marking.statements.length > 0) await database.commit(marking);
  }

  #calledEvent(
    caller: Caller,
    { backend, model, streamed, outcome, tokens, milliseconds }: FinishedCall,
  ): NewEvent {
    return newEvent(
      "llm.called",
      {
        backend,
        model: model ?? "",
        streamed,
        outcome,
        prompt_tokens: tokens.input,
        completion_tokens: tokens.output,
        milliseconds,
      },
      originOf(caller),
      this.#options.scheduler.now(),
    );
  }

  #reported(call: ReportedCall, spender: Spender, work: Work | null): LedgerEntry {
    const { provider, tokens, milliseconds } = call;
    const now = this.#options.scheduler.now();
    const endedAt = Math.min(Math.max(call.endedAt ?? now, now - MAX_REPORT_AGE), now);
    const entry = this.#entryOf({ spender, work }, {
      backend: `${REPORTED}${call.client}`,
      provider,
      address: "",
      model: call.model,
      responseModel: null,
      isUsualTier: true,
      streamed: true,
      outcome: "completed",
      error: null,
      tokens,
      guess: { input: 0, output: 0 },
      endedAt,
      milliseconds,
    }, `${spender.key} ${call.digest}`);
    return { ...entry, cost: call.cost ?? entry.cost };
  }

  async #writeAgain(): Promise<boolean> {
    while (this.#unwritten[0] !== undefined) {
      try {
        await this.#options.database.commit(this.#unwritten[0]);
      } catch (error) {
        if (error instanceof Unavailable) return false;
        // The database never takes it, and it must not keep the others waiting.
        this.#lost++;
        this.#options.log.error("A call of a model is not in the ledger", { error });
      }
      this.#unwritten.shift();
    }
    return true;
  }

  #entryOf(
    { spender, work }: Pick<Admission, "spender" | "work">,
    call: FinishedCall,
    report: string | null = null,
  ): LedgerEntry {
    const { provider, responseModel, isUsualTier } = call;
    const model = call.model === null ? null : call.model.slice(0, MAX_MODEL_LENGTH);
    const answered = responseModel?.slice(0, MAX_MODEL_LENGTH) ?? null;
    const models = [answered, model].filter((name) => name !== null);
    const priced = { provider, models, isUsualTier };
    const cost = this.#options.prices.costOf(priced, call.tokens);
    return {
      ...call,
      report,
      model: this.#known(call.endedAt, call.backend, model ?? answered),
      responseModel: answered,
      spender,
      work,
      cost,
      estimate: cost === null ? this.#estimateOf(priced, call) : NOTHING,
    };
  }

  /** What budgets count in place of what is not known: tokens, or the rate of another tier. */
  #estimateOf(model: PricedModel, { tokens, guess }: FinishedCall): Amount {
    const probable = {
      ...tokens,
      input: tokens.input ?? guess.input,
      output: tokens.output ?? guess.output,
    };
    const cost = this.#options.prices.costOf({ ...model, isUsualTier: true }, probable) ?? 0;
    return { tokens: guess.input + guess.output, cost };
  }

  #amountOf({ provider, model, input, output }: Forecast): Amount {
    const models = model === null ? [] : [model];
    const tokens = { input, output, cached: null, written: null, writtenLong: null };
    const cost = this.#options.prices.costOf({ provider, models, isUsualTier: true }, tokens);
    return { tokens: input + output, cost: cost ?? 0 };
  }

  /** The model's name, or that of all others if too many were named on that day. */
  #known(time: number, backend: string, model: string | null): string | null {
    if (model === null) return null;
    // What clients report must not use up the names of the gateway's calls.
    const kind = `${dayOf(time)} ${backend.startsWith(REPORTED)}`;
    const names = this.#models.get(kind) ?? new Set<string>();
    this.#models.delete(kind);
    this.#models.set(kind, names);
    for (const [oldest] of this.#models) {
      if (this.#models.size <= MAX_MODEL_KINDS) break;
      this.#models.delete(oldest);
    }
    const key = `${backend} ${model}`;
    if (!names.has(key) && names.size >= MAX_MODELS) return "(others)";
    names.add(key);
    return model;
  }
}

/** Shortest beginning of a ticket's id, in digits. */
const MIN_PREFIX = 4;

/** A ticket, with its project or without. */
const TICKET = /^(?:([a-z0-9][a-z0-9._-]{0,99})\/)?#?([0-9a-f]{1,40})$/i;

export interface AttributionOptions {
  readonly projects: Pick<Projects, "find" | "get" | "halts">;
  readonly claims: Pick<Claims, "heldBy">;
  readonly tickets: Pick<Tickets, "numbers" | "resolve">;
}

/** Finds the ticket that a call of a model is for. */
export class Attribution {
  readonly #options: AttributionOptions;

  constructor(options: AttributionOptions) {
    this.#options = options;
  }

  /**
   * The ticket that the caller names, else the one that it claimed last: its session, if that
   * has a name of its own and holds any, else the agent in any session.
   *
   * @param named `PROJECT/TICKET`, or the ticket alone if the caller holds it; null for none
   * @throws Invalid, NotFound if there is no such ticket, or the caller may not read it
   */
  async workOf(principal: Principal, named: string | null): Promise<Work | null> {
    const held = this.#heldBy(principal);
    if (named === null) {
      // The first session of an agent is not told from the agent itself.
      const isNamed = principal.agentSession !== undefined;
      const own = held.filter(({ holder }) => isNamed && holder === principal.name);
      return (own.at(-1) ?? held.at(-1))?.work ?? null;
    }
    const [, slug, start] = TICKET.exec(named.trim()) ?? [];
    if (start === undefined) {
      throw new Invalid('X-Muster-Ticket must be "PROJECT/TICKET", or a ticket that you hold');
    }
    const fitting = await this.#fitting(
      held.map(({ work }) => work).filter(({ project }) => slug === undefined || project === slug),
      start.toLowerCase(),
    );
    if (fitting.length === 1) return fitting[0] ?? null;
    if (slug !== undefined) return await this.#find(principal, slug, start);
    throw new NotFound(
      fitting.length === 0
        ? `You hold no ticket "${start}": name it as PROJECT/TICKET in X-Muster-Ticket`
        : `You hold several tickets that begin with "${start}": name more of its id`,
    );
  }

  /** Those that a number, an id or a prefix of one stands for. */
  async #fitting(works: readonly Work[], start: string): Promise<readonly Work[]> {
    const { numbers } = this.#options.tickets;
    const ids = await Promise.all(works.map(({ projectId: id }) => numbers.idOf({ id }, start)));
    return works.filter(({ ticket }, index) => {
      const id = ids[index] ?? "";
      return id.length >= MIN_PREFIX && ticket.startsWith(id);
    });
  }

  async #find(principal: Principal, slug: string, start: string): Promise<Work> {
    const { projects, tickets } = this.#options;
    const access = accessProject(projects, slug, principal);
    access.require("read");
    const { uuid } = await tickets.resolve(access.project, start);
    return workOn(access.project, uuid);
  }

  /** What an agent holds in all of its sessions, and the name of each that holds it; oldest first. */
  #heldBy({ id }: Principal): readonly { readonly work: Work; readonly holder: string }[] {
    if (id === null) return [];
    const { claims, projects } = this.#options;
    return claims.heldBy(id).flatMap(({ projectId, ticket, holder: { name: holder } }) => {
      const project = projects.get(projectId)?.project;
      return project === undefined ? [] : [{ work: workOn(project, ticket), holder }];
    });
  }
}

function workOn({ id, slug }: Project, ticket: string): Work {
  return { projectId: id, project: slug, ticket };
}
