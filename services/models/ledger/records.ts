import { accountNameOf, type Principal } from "../../people/identity/mod.ts";
import type { CallTokens } from "./prices.ts";

/** Who calls models. */
export interface Spender {
  /** The account's internal id, or the kind and the name of a caller without one: `bot:oracle`. */
  readonly key: string;
  readonly name: string;
  /** An agent's type; empty for another caller. */
  readonly type: string;
  readonly isAgent: boolean;
}

/** What a call is for. */
export interface Work {
  readonly projectId: string;
  /** The project's slug. */
  readonly project: string;
  /** The whole id of the ticket. */
  readonly ticket: string;
}

/** Tokens and their cost, in millionths of a US dollar. */
export interface Amount {
  readonly tokens: number;
  readonly cost: number;
}

export const NOTHING: Amount = Object.freeze({ tokens: 0, cost: 0 });

/** A call of a model that is over. */
export interface FinishedCall {
  readonly backend: string;
  /** The name of the backend's provider. */
  readonly provider: string;
  /** Where the provider was asked. */
  readonly address: string;
  /** The model that the request names; null for the provider's choice. */
  readonly model: string | null;
  /** The model that answered, as the provider says; null if it does not. */
  readonly responseModel: string | null;
  /** Whether the provider bills it at its usual rate, and not that of another tier of service. */
  readonly isUsualTier: boolean;
  readonly streamed: boolean;
  readonly outcome: "completed" | "failed" | "cancelled";
  /** The class of the error that ended it, or null. */
  readonly error: string | null;
  readonly tokens: CallTokens;
  /** How many tokens it probably took, for budgets; 0 for those that the provider reported. */
  readonly guess: { readonly input: number; readonly output: number };
  /** Unix milliseconds. */
  readonly endedAt: number;
  readonly milliseconds: number;
}

/** Before the client's name, in place of the backend of a call that a client reports. */
export const REPORTED = "reported:";

/** A call in the ledger. */
export interface LedgerEntry extends FinishedCall {
  /** What tells a call that a client reported from all others; null for one of the gateway. */
  readonly report: string | null;
  readonly spender: Spender;
  readonly work: Work | null;
  /** In millionths of a US dollar; null if it is not known. */
  readonly cost: number | null;
  /** What budgets count in place of tokens and a cost that the provider did not report. */
  readonly estimate: Amount;
}

/** What budgets count of a call. */
export function chargeOf({ tokens: { input, output }, cost, estimate }: LedgerEntry): Amount {
  return {
    tokens: (input ?? 0) + (output ?? 0) + estimate.tokens,
    cost: (cost ?? 0) + estimate.cost,
  };
}

/** The caller of a model, for the ledger. */
export function spenderOf(
  principal: Principal,
  typeOf: (accountId: string) => string | null,
): Spender {
  const { id, kind, name } = principal;
  const type = kind === "agent" && id !== null ? typeOf(id) : null;
  return {
    key: id ?? `${kind}:${name}`,
    name: accountNameOf(principal),
    type: type ?? "",
    isAgent: kind === "agent",
  };
}

/** For how long a budget is. Both begin at midnight in UTC. */
export const PERIODS = ["day", "month"] as const;
export type Period = (typeof PERIODS)[number];

const DAY = 86_400_000;

/** Days since 1970-01-01, in UTC. */
export function dayOf(milliseconds: number): number {
  return Math.floor(milliseconds / DAY);
}

/** A day as `2026-11-23`. */
export function dateOf(day: number): string {
  return new Date(day * DAY).toISOString().slice(0, 10);
}

/** The day of a date such as `2026-11-23`; null if there is no such date. */
export function dayOfDate(date: string): number | null {
  const time = Date.parse(`${date}T00:00:00Z`);
  return Number.isNaN(time) || dateOf(dayOf(time)) !== date ? null : dayOf(time);
}

/** When the period of a time begins, in Unix milliseconds. */
export function startOf(period: Period, now: number): number {
  if (period === "day") return dayOf(now) * DAY;
  const date = new Date(now);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth());
}

/** When the period of a time ends, in Unix milliseconds. */
export function endOf(period: Period, now: number): number {
  if (period === "day") return (dayOf(now) + 1) * DAY;
  const date = new Date(now);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
}
