import { Invalid, NotFound } from "../../kernel/errors.ts";
import type {
  PooledRepository,
  Ticket,
  TicketComment,
  TicketFields,
  TicketRef,
} from "../../engines/fossil/mod.ts";
import type { Project, ProjectRepositories, RepositoryWrite, Stamp } from "../projects/mod.ts";
import type { Claims } from "./claims.ts";
import { type ClaimView, isoOf, type TicketWriter, viewOfClaim } from "./records.ts";
import type { NewComment, NewTicket, TicketEdit } from "./schemas.ts";
import { checkFields, commentFields, type Field, setting } from "./ticket_fields.ts";

export interface TicketsOptions {
  readonly repositories: ProjectRepositories;
  readonly claims: Claims;
}

/** A ticket with its comments, its claim and its strikes. */
export interface TicketView extends Ticket {
  readonly claim: ClaimView | null;
  /** How many claims of it ended without a result. */
  readonly strikes: number;
}

/** A ticket that waits for a person. */
export interface StruckTicket extends TicketRef {
  readonly strikes: number;
}

/** The tickets in the repositories of projects. */
export class Tickets {
  readonly #repositories: ProjectRepositories;
  readonly #claims: Claims;

  constructor(options: TicketsOptions) {
    this.#repositories = options.repositories;
    this.#claims = options.claims;
  }

  /**
   * Finds a ticket by its id or a prefix.
   *
   * @param absence the error's text if there is none
   * @throws NotFound; Invalid if a prefix fits several
   */
  resolve(project: Project, id: string, absence = "Ticket not found"): Promise<TicketRef> {
    return this.#find(project, absence, (repository) => repository.resolveTicket(id));
  }

  /** A page of the tickets that wait for a person, newest first. */
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

  /**
   * @param hasChanges whether to read its comments and changes, which may be long
   * @throws NotFound; Invalid if a prefix fits several
   */
  async read(project: Project, id: string, hasChanges = true): Promise<TicketView> {
    const ticket = await this.#find(
      project,
      "Ticket not found",
      (repository) => hasChanges ? repository.ticket(id) : repository.ticketItself(id),
    );
    const claim = this.#claims.active(project, ticket.uuid);
    const strikes = this.#claims.strikes(project, ticket.uuid);
    return Object.assign(ticket, { claim: claim === null ? null : viewOfClaim(claim), strikes });
  }

  /** @throws Invalid if the project's tickets lack a field, or a field of numbers gets a text */
  async create(
    project: Project,
    { title, comment, fields = {}, ...words }: NewTicket,
    { caller, actor }: TicketWriter,
  ): Promise<TicketView> {
    const { ticket } = await this.#repositories.write(project, {
      caller,
      user: actor.name,
      write: async (repository, stamp) => {
        const columns = await repository.ticketFields();
        const given = { title, comment, ...words, ...fields };
        const defaults = columns.ticket.includes("status") ? { status: "Open" } : {};
        const values = setting(Object.assign(defaults, withoutEmpty(given)));
        checkFields(values, columns);
        return await repository.changeTicket({ ...stamp, fields: values });
      },
    });
    return await this.read(project, ticket);
  }

  /**
   * Changes fields of a ticket and adds a comment, in one step.
   *
   * @param id the ticket's id or a prefix of it
   * @throws Conflict if the generation is not the current one of the actor's claim
   * @throws Invalid like {@link create}
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
      throw new Invalid("The body must name at least one field of the ticket");
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

  /** Adds a comment to a ticket; `id` may be a prefix. */
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

  /**
   * Appends a comment of muster itself, which renews no claim, with an intention.
   *
   * @param ticket its whole id
   */
  async note<Body>(
    project: Project,
    ticket: string,
    { comment, user, caller, intention }:
      & Pick<RepositoryWrite<Body, unknown>, "caller" | "intention">
      & { readonly comment: string; readonly user: string },
  ): Promise<void> {
    await this.#repositories.write(project, {
      caller,
      user,
      ...(intention === undefined ? {} : { intention }),
      write: async (repository, stamp) => {
        const fields = commentFields(await repository.ticketFields(), { comment, user });
        return await repository.changeTicket({ ...stamp, ticket, fields });
      },
    });
  }

  /**
   * Closes a ticket as work that was done, with an intention. Leaves a closed ticket as it is.
   *
   * @param ticket its whole id
   */
  async close<Body>(
    project: Project,
    ticket: string,
    write: Pick<RepositoryWrite<Body, unknown>, "caller" | "user" | "intention">,
  ): Promise<void> {
    await this.#repositories.write(project, {
      ...write,
      write: (repository, stamp) => repository.closeTicket({ ...stamp, ticket }),
    });
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
        const columns = await repository.ticketFields();
        const fields = fieldsOf(columns);
        checkFields(fields, columns);
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
