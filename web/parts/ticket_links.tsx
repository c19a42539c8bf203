import type { Child } from "hono/jsx";
import type { OpenProject } from "../project.ts";
import type { Visit } from "../visit.ts";

/** The number of a ticket in a plain text. */
const TICKET = /(?<![\w/#&])#[1-9][0-9]{0,8}\b/g;

/** Most tickets that one text leads to. */
const MAX_TICKETS = 100;

/** The addresses of the tickets that a plain text names, by their numbers in it, such as `#12`. */
export async function ticketsNamed(
  { services: { hosting: { tickets } } }: Visit,
  { access: { project }, base }: Pick<OpenProject, "access" | "base">,
  text: string,
): Promise<ReadonlyMap<string, string>> {
  const names = [...new Set(text.match(TICKET))].slice(0, MAX_TICKETS);
  const named = await tickets.numbers.named(project, names);
  return new Map([...named].map(([name, uuid]) => [name, `${base}/tickets/${uuid}`]));
}

/** The names of tickets by their whole ids: their numbers, else the beginnings of their ids. */
export async function ticketNames(
  { services: { hosting: { tickets } } }: Visit,
  { access: { project } }: Pick<OpenProject, "access">,
  ids: readonly string[],
): Promise<(ticket: string) => string> {
  const numbers = await tickets.numbers.of(project, [...new Set(ids)]);
  return (ticket) => `#${numbers.get(ticket) ?? ticket.slice(0, 10)}`;
}

/** A plain text with links to the tickets that it names. */
export function TicketLinks({ text, tickets }: {
  readonly text: string;
  /** From {@linkcode ticketsNamed}. */
  readonly tickets: ReadonlyMap<string, string>;
}): Child {
  const parts: Child[] = [];
  let from = 0;
  for (const { 0: name, index } of text.matchAll(TICKET)) {
    const address = tickets.get(name);
    if (address === undefined) continue;
    parts.push(text.slice(from, index), <a href={address}>{name}</a>);
    from = index + name.length;
  }
  parts.push(text.slice(from));
  return <>{parts}</>;
}
