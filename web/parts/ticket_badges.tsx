import { viewOfClaim } from "../../services/work/tickets/mod.ts";
import type { OpenProject } from "../project.ts";
import type { Visit } from "../visit.ts";
import { AccountName, type NamePlace } from "./account_name.tsx";
import { readable } from "./ticket_words.ts";
import { Time } from "./time.tsx";

/** Who holds a ticket, and its strikes. */
export interface Holding {
  readonly holder: string | null;
  /** When the lease ends, in ISO 8601; null if nobody holds it. */
  readonly until: string | null;
  readonly strikes: number;
  /** Whether the ticket waits for a person. */
  readonly isStruck: boolean;
}

/** Reads the holding of a ticket, which is in memory. */
export function holdingOf(
  visit: Visit,
  { access: { project } }: OpenProject,
  ticket: string,
): Holding {
  const { claims, projects } = visit.services.hosting;
  const claim = claims.active(project, ticket);
  const strikes = claims.strikes(project, ticket);
  return {
    holder: claim?.holder.name ?? null,
    until: claim === null ? null : viewOfClaim(claim).expires_at,
    strikes,
    isStruck: strikes >= projects.settingsOf(project.id).strikes,
  };
}

/** The number of a ticket, and the beginning of its id. */
export function TicketName({ number, uuid }: {
  readonly number: number | null;
  readonly uuid: string;
}) {
  return (
    <>
      {number !== null && <b>#{number}</b>}
      <span class="mono">#{uuid.slice(0, 10)}</span>
    </>
  );
}

/** The looks of statuses; others are plain. */
const LOOKS: Readonly<Record<string, string>> = {
  Open: "accent",
  Verified: "accent",
  Review: "warn",
  Fixed: "good",
  Tested: "good",
};

const URGENT: ReadonlySet<string> = new Set(["Immediate", "Critical"]);
const HIGH: ReadonlySet<string> = new Set(["High", "Severe"]);

export function TicketStatus({ status }: { readonly status: string }) {
  return <span class={`badge ${LOOKS[status] ?? ""}`}>{status === "" ? "No status" : status}</span>;
}

/** Fields of a ticket that lists are filtered by. */
export type TicketField = "type" | "priority" | "severity" | "subsystem";

/**
 * The words of a ticket, without its status: type, priority, severity and subsystem.
 *
 * @param to the list of the tickets with the same word; without it, the words lead nowhere
 */
export function TicketWords({ to, ...ticket }: Readonly<Record<TicketField, string>> & {
  readonly to?: (field: TicketField, value: string) => string;
}) {
  const { type, priority, severity, subsystem } = ticket;
  const words: readonly (readonly [field: TicketField, value: string])[] = [
    ["type", type],
    ["priority", priority],
    ...(severity === priority ? [] : [["severity", severity] as const]),
    ["subsystem", subsystem],
  ];
  return (
    <>
      {words.filter(([, value]) => value !== "").map(([field, value]) => (
        <Word key={field} field={field} value={value} to={to?.(field, value)} />
      ))}
    </>
  );
}

function Word({ field, value, to }: {
  readonly field: TicketField;
  readonly value: string;
  readonly to: string | undefined;
}) {
  const look = `badge ${lookOf(field, value)}`;
  const words = field === "subsystem" ? value : readable(value);
  if (to === undefined) return <span class={look}>{words}</span>;
  return <a class={look} href={to} title={`Only this ${field}`}>{words}</a>;
}

function lookOf(field: TicketField, value: string): string {
  if (field !== "priority" && field !== "severity") return "";
  return URGENT.has(value) ? "bad" : HIGH.has(value) ? "warn" : "";
}

/** Who holds a ticket, and how often its claims ended without a result. */
export function TicketHolder({ visit, project, holder, until, strikes, isStruck }: NamePlace & {
  readonly holder: string | null;
  /** ISO 8601; null if nobody holds it. */
  readonly until: string | null;
  readonly strikes: number;
  /** Whether the ticket waits for a person. */
  readonly isStruck: boolean;
}) {
  return (
    <>
      {holder !== null && (
        <span class="holder">
          held by <AccountName {...{ visit, project }} name={holder} />
          {until !== null && (
            <span class="soft">
              , the claim ends <Time at={until} />
            </span>
          )}
        </span>
      )}
      {isStruck && <span class="badge bad">waits for a person</span>}
      {strikes > 0 && (
        <span class={`badge ${isStruck ? "bad" : "warn"}`}>
          {strikes} failed {strikes === 1 ? "claim" : "claims"}
        </span>
      )}
    </>
  );
}
