import { Invalid, NotFound } from "../errors.ts";
import type {
  PooledRepository,
  Ticket,
  TicketComment,
  TicketFields,
  TicketRef,
} from "../fossil/mod.ts";
import type { Caller } from "../identity/mod.ts";
import type { Actor, Project, ProjectRepositories, Stamp } from "../projects/mod.ts";
import type { Claims } from "./claims.ts";
import { type ClaimView, isoOf, viewOfClaim } from "./records.ts";
import type { NewComment, NewTicket, TicketEdit } from "./schemas.ts";
import { commentFields, type Field, setting } from "./ticket_fields.ts";

export interface TicketsOptions {
  readonly repositories: ProjectRepositories;
  readonly claims: Claims;
}

/** Who changes a ticket, and under which generation of its claim, where the request names one. */
export interface TicketWriter {
  readonly caller: Caller;
  readonly actor: Actor;
  readonly generation?: number | undefined;
}

/** A ticket with its comments, and with who works on it. */
export interface TicketView extends Ticket {
  readonly claim: ClaimView | null;
  /** Claims of it that ended without a result. */
  readonly strikes: number;
}

/** A ticket that waits for a person. */
export interface StruckTicket extends TicketRef {
  readonly strikes: number;
}

/** The tickets of projects, as their repositories hold them. */
export class Tickets {
  readonly #repositories: ProjectRepositories;
  readonly #claims: Claims;

  constructor(options: TicketsOptions) {
    this.#repositories = options.repositories;
    this.#claims = options.claims;
  }

  /**
   * The ticket that an id or a prefix stands for, in one line.
   *
   * @param absence what the refusal says where there is none
   * @throws NotFound, and Invalid where a prefix fits several
   */
  resolve(project: Project, id: string, absence = "Ticket not found"): Promise<TicketRef> {
    return this.#find(project, absence, (repository) => repository.resolveTicket(id));
  }

  /** A page of the tickets that wait for a person, the newest first. */
  async struck(
    project: Project,
    { limit, offset }: { readonly limit: number; readonly offset: number },
  ): Promise<{ readonly tickets: readonly StruckTicket[]; readonly total: number }> {
    const only = this.#claims.struck(project);
    const { tickets, total } = await this.#repositories.read(
      project,
      (repository) => repository.tickets({ limit, offset, only }),
    );
    const strikesOf = (ticket: string) => this.#claims.strikes(project, ticket);
    return { tickets: tickets.map((ref) => withStrikes(ref, strikesOf(ref.uuid))), total };
  }

  /** @throws NotFound, and Invalid where a prefix fits several */
  async read(project: Project, id: string): Promise<TicketView> {
    const ticket = await this.#find(
      project,
      "Ticket not found",
      (repository) => repository.ticket(id),
    );
    const claim = this.#claims.active(project, ticket.uuid);
    const strikes = this.#claims.strikes(project, ticket.uuid);
    return Object.assign(ticket, { claim: claim === null ? null : viewOfClaim(claim), strikes });
  }

  /** @throws Invalid where the repository's tickets lack a field that the request sets */
  async create(
    project: Project,
    { title, comment, fields = {}, ...words }: NewTicket,
    { caller, actor }: TicketWriter,
  ): Promise<TicketView> {
    const { ticket } = await this.#repositories.write(project, {
      caller,
      user: actor.name,
      write: async (repository, stamp) => {
        const { ticket: columns } = await repository.ticketFields();
        const given = { title, comment, ...words, ...fields };
        const defaults = columns.includes("status") ? { status: "Open" } : {};
        const values = Object.assign(defaults, withoutEmpty(given));
        return await repository.changeTicket({ ...stamp, fields: setting(values) });
      },
    });
    return await this.read(project, ticket);
  }

  /**
   * Changes fields of a ticket and comments on it, in one step.
   *
   * @param id whole, or a prefix
   * @throws Conflict where the generation is not the current one of the actor's claim
   */
  async change(
    project: Project,
    id: string,
    { body, comment, fields = {}, ...words }: TicketEdit,
    writer: TicketWriter,
  ): Promise<TicketView> {
    const values = { ...words, ...(body === undefined ? {} : { comment: body }), ...fields };
    const changed = setting(values);
    if (changed.length === 0 && comment === undefined) {
      throw new Invalid("The body must change something: it names no field of a ticket");
    }
    const { uuid: ticket } = await this.resolve(project, id);
    await this.#write(project, ticket, writer, (columns) => [
      ...changed,
      ...(comment === undefined
        ? []
        : commentFields(columns, { comment, user: writer.actor.name })),
    ]);
    return await this.read(project, ticket);
  }

  /** Appends a comment to a ticket; `id` may be a prefix. */
  async comment(
    project: Project,
    id: string,
    { comment, mimetype }: NewComment,
    writer: TicketWriter,
  ): Promise<TicketComment & { readonly ticket_uuid: string }> {
    const { uuid: ticket } = await this.resolve(project, id);
    const user = writer.actor.name;
    const { hash, date } = await this.#write(
      project,
      ticket,
      writer,
      (columns) => commentFields(columns, { comment, mimetype, user }),
    );
    return { uuid: hash, ticket_uuid: ticket, timestamp: isoOf(date), user, comment, mimetype };
  }

  #write(
    project: Project,
    ticket: string,
    { caller, actor, generation }: TicketWriter,
    fieldsOf: (columns: TicketFields) => readonly Field[],
  ) {
    return this.#repositories.write(project, {
      caller,
      user: actor.name,
      write: async (repository: PooledRepository, stamp: Stamp) => {
        await this.#claims.touch(project, { ticket, actor, generation });
        const fields = fieldsOf(await repository.ticketFields());
        return await repository.changeTicket({ ...stamp, ticket, fields });
      },
    });
  }

  async #find<T>(
    project: Project,
    absence: string,
    read: (repository: PooledRepository) => Promise<T>,
  ): Promise<T> {
    try {
      return await this.#repositories.read(project, read);
    } catch (error) {
      throw error instanceof NotFound ? new NotFound(absence) : error;
    }
  }
}

function withStrikes(ref: TicketRef, strikes: number): StruckTicket {
  return Object.assign(ref, { strikes });
}

function withoutEmpty(values: Readonly<Record<string, string | undefined>>) {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value));
}
