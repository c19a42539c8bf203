import { type Database, type Statement, statement } from "../../engines/database/mod.ts";
import type { Blocker, TicketRef } from "../../engines/fossil/mod.ts";
import type { Project, ProjectRepositories, Reception } from "../projects/mod.ts";

/** A number of a ticket, with `#` or without. */
const NUMBER = /^#?([1-9][0-9]{0,8})$/;

/** Tickets of one statement, and of one look into a repository. */
const AT_ONCE = 1000;

export interface TicketNumbersOptions {
  readonly database: Pick<Database, "tables">;
  readonly repositories: Pick<ProjectRepositories, "read" | "onReceived" | "onLook">;
}

/** A ticket with its number in the project; null until the server has given it one. */
export type Numbered<Ref extends TicketRef = TicketRef> = Omit<Ref, "blocked_by"> & {
  readonly number: number | null;
  readonly blocked_by: readonly (Blocker & { readonly number: number | null })[];
};

/**
 * The numbers of tickets. The server gives a number to each ticket that a project's repository
 * receives, whichever program filed it, in order of arrival; those that come with a whole repository
 * get theirs in order of creation. A number never changes, and none is given twice.
 */
export class TicketNumbers {
  readonly #options: TicketNumbersOptions;

  constructor(options: TicketNumbersOptions) {
    this.#options = options;
    options.repositories.onReceived(async ({ project, artifacts }: Reception) => {
      const tickets = artifacts.flatMap((one) => one.kind === "ticket" ? [one.ticket] : []);
      return await this.#giving(project, [...new Set(tickets)]);
    });
    options.repositories.onLook((project, isReplaced) => this.#numberAll(project, isReplaced));
  }

  /**
   * The numbers of tickets, by their whole ids. One that came a moment ago may have none yet.
   *
   * @param tickets at most 20,000
   */
  async of(
    { id }: Pick<Project, "id">,
    tickets: readonly string[],
  ): Promise<ReadonlyMap<string, number>> {
    const numbers = new Map<string, number>();
    for (let at = 0; at < tickets.length; at += AT_ONCE) {
      const rows = await this.#rows(id).select(["ticket", "number"])
        .where("ticket", "in", tickets.slice(at, at + AT_ONCE)).execute();
      for (const { ticket, number } of rows) numbers.set(ticket, number);
    }
    return numbers;
  }

  /** Tickets, each with its number and those of its blockers; null for one that has none yet. */
  async with<Ref extends TicketRef>(
    project: Pick<Project, "id">,
    tickets: readonly Ref[],
  ): Promise<readonly Numbered<Ref>[]> {
    const ids = tickets.flatMap((
      { uuid, blocked_by },
    ) => [uuid, ...blocked_by.map((blocker) => blocker.uuid)]);
    const numbers = await this.of(project, [...new Set(ids)]);
    const number = <Named extends { readonly uuid: string }>(named: Named) =>
      Object.assign(named, { number: numbers.get(named.uuid) ?? null });
    return tickets.map((ref) =>
      Object.assign(number(ref), { blocked_by: ref.blocked_by.map(number) })
    );
  }

  /**
   * The whole ids of the tickets that references name by their number, by reference. A reference is
   * a number, `#` and a number, or anything else, which names none.
   *
   * @param references at most 10,000
   */
  async named(
    { id }: Pick<Project, "id">,
    references: readonly string[],
  ): Promise<ReadonlyMap<string, string>> {
    const wanted = references.flatMap((reference) => {
      const [, number] = NUMBER.exec(reference) ?? [];
      return number === undefined ? [] : [{ reference, number: Number(number) }];
    });
    const named = new Map<string, string>();
    for (let at = 0; at < wanted.length; at += AT_ONCE) {
      const some = wanted.slice(at, at + AT_ONCE);
      const rows = await this.#rows(id).select(["ticket", "number"])
        .where("number", "in", some.map(({ number }) => number)).execute();
      const tickets = new Map(rows.map(({ number, ticket }) => [number, ticket]));
      for (const { reference, number } of some) {
        const ticket = tickets.get(number);
        if (ticket !== undefined) named.set(reference, ticket);
      }
    }
    return named;
  }

  /**
   * The id that a reference stands for: the whole id of the ticket with this number; else the
   * reference, without `#` at its beginning, which may be an id or a prefix of one.
   */
  async idOf(project: Pick<Project, "id">, reference: string): Promise<string> {
    const named = await this.named(project, [reference]);
    return named.get(reference) ?? reference.replace(/^#/, "");
  }

  /** Numbers the tickets of a repository of which none has a number, or which was replaced. */
  async #numberAll(project: Project, isReplaced: boolean): Promise<readonly Statement[]> {
    if (!isReplaced && await this.#last(project) > 0) return [];
    const tickets: string[] = [];
    for (;;) {
      const page = await this.#options.repositories.read(
        project,
        (repository) =>
          repository.tickets({ limit: AT_ONCE, offset: tickets.length, isReversed: true }),
      );
      tickets.push(...page.tickets.map(({ uuid }) => uuid));
      if (page.tickets.length < AT_ONCE) return (await this.#giving(project, tickets)).statements;
    }
  }

  /**
   * The numbers of the tickets, and the statements that give the next ones to those that have none.
   */
  async #giving(project: Project, tickets: readonly string[]) {
    const known = await this.of(project, tickets);
    const unknown = tickets.filter((ticket) => !known.has(ticket));
    if (unknown.length === 0) return { statements: [], ticketNumbers: known };
    const last = await this.#last(project);
    const rows = unknown.map((ticket, index) => (
      { project_id: project.id, number: last + index + 1, ticket }
    ));
    const statements: Statement[] = [];
    for (let at = 0; at < rows.length; at += AT_ONCE) {
      const insertion = this.#options.database.tables.insertInto("ticket_numbers")
        .values(rows.slice(at, at + AT_ONCE)).onConflict((conflict) => conflict.doNothing());
      statements.push(statement(insertion));
    }
    const given = rows.map(({ ticket, number }) => [ticket, number] as const);
    return { statements, ticketNumbers: new Map([...known, ...given]) };
  }

  /** The number that was given last; 0 before the first. */
  async #last({ id }: Pick<Project, "id">): Promise<number> {
    const row = await this.#rows(id).select("number").orderBy("number", "desc").limit(1)
      .executeTakeFirst();
    return row?.number ?? 0;
  }

  #rows(id: string) {
    return this.#options.database.tables.selectFrom("ticket_numbers").where("project_id", "=", id);
  }
}
