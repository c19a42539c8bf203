import { Invalid, NotFound } from "../../kernel/errors.ts";
import type { PooledRepository, Ticket, TicketComment } from "../../engines/fossil/mod.ts";
import {
  type Project,
  type ProjectRepositories,
  type ReadsAnywhere,
  type RepositoryWrite,
  serviceErrorOf,
  type Stamp,
} from "../projects/mod.ts";
import type { Claims } from "./claims.ts";
import { GivenWork, type GivenWorkOptions } from "./given_work.ts";
import type { Numbered, TicketNumbers } from "./numbers.ts";
import { type ClaimView, isoOf, type TicketWriter, viewOfClaim } from "./records.ts";
import type { NewComment, NewTicket, TicketEdit } from "./schemas.ts";
import { type Field, requireFields, setting } from "./ticket_fields.ts";

export interface TicketsOptions extends Pick<GivenWorkOptions, "accounts" | "projects"> {
  readonly repositories: ProjectRepositories;
  readonly claims: Claims;
  readonly numbers: TicketNumbers;
}

/** A ticket with its comments, its claim and its strikes. */
export interface TicketView extends Numbered<Ticket> {
  readonly claim: ClaimView | null;
  /** How many claims of it ended without a result. */
  readonly strikes: number;
}

/** A ticket that waits for a person. */
export interface StruckTicket extends Numbered {
  readonly strikes: number;
}

/** The tickets in the repositories of projects. */
export class Tickets {
  readonly #repositories: ProjectRepositories;
  readonly #claims: Claims;
  readonly #given: GivenWork;
  readonly numbers: TicketNumbers;

  constructor(options: TicketsOptions) {
    this.#repositories = options.repositories;
    this.#claims = options.claims;
    this.#given = new GivenWork(options);
    this.numbers = options.numbers;
  }

  /**
   * Finds a ticket by its number, its id or a prefix of it.
   *
   * @param more.absence the error's text if there is none
   * @param more.reads how to read the repository, if the project may be on another node
   * @throws NotFound; Invalid if a prefix fits several
   */
  async resolve(
    project: Project,
    id: string,
    { absence = "Ticket not found", reads = this.#repositories }: {
      readonly absence?: string;
      readonly reads?: Pick<ReadsAnywhere, "read">;
    } = {},
  ): Promise<Numbered> {
    const known = await this.numbers.idOf(project, id);
    const ticket = await found(
      absence,
      () => reads.read(project, (repository) => repository.resolveTicket(known)),
    );
    const [numbered] = await this.numbers.with(project, [ticket]);
    return numbered!;
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
    const numbered = await this.numbers.with(project, tickets);
    return { tickets: numbered.map((ref) => withStrikes(ref, strikesOf(ref.uuid))), total };
  }

  /**
   * @param hasChanges whether to read its comments and changes, which may be long
   * @throws NotFound; Invalid if a prefix fits several
   */
  async read(project: Project, id: string, hasChanges = true): Promise<TicketView> {
    const known = await this.numbers.idOf(project, id);
    const ticket = await found(
      "Ticket not found",
      () =>
        this.#repositories.read(
          project,
          (repository) => hasChanges ? repository.ticket(known) : repository.ticketItself(known),
        ),
    );
    return await this.#viewOf(project, ticket);
  }

  /**
   * @throws Invalid if the project's tickets lack a field, a field of numbers gets a text, the assignee
   * is no member, or a blocker does not exist
   */
  async create(
    project: Project,
    { title, comment, assignee, labels, blocked_by, fields: custom = {}, ...words }: NewTicket,
    { caller, actor }: TicketWriter,
  ): Promise<TicketView> {
    const given = await this.#given.textsOf(project, { assignee, labels, blocked_by }, { actor });
    const fields = setting(withoutEmpty({ title, comment, ...words, ...given, ...custom }));
    const optional = setting({ status: "Open" });
    const write = this.#repositories.write(project, {
      caller,
      user: actor.name,
      subject: null,
      write: (repository, stamp) => repository.saveTicket({ ...stamp, fields, optional }),
    });
    return await this.#viewOf(project, await this.#explained(project, fields, write));
  }

  /**
   * Changes fields of a ticket and adds a comment, in one step.
   *
   * @param id the ticket's number, its id or a prefix of it
   * @throws Conflict if the generation is not the current one of the actor's claim, or the ticket would
   * wait for itself, by way of others or directly
   * @throws Invalid like {@link create}
   */
  async change(
    project: Project,
    id: string,
    { body, comment: text, assignee, labels, blocked_by, fields: custom = {}, ...words }:
      TicketEdit,
    writer: TicketWriter,
  ): Promise<TicketView> {
    const fields = setting({
      ...words,
      ...await this.#given.textsOf(project, { assignee, labels, blocked_by }, writer),
      ...(body === undefined ? {} : { comment: body }),
      ...custom,
    });
    if (fields.length === 0 && text === undefined) {
      throw new Invalid("The body must name at least one field of the ticket");
    }
    const ticket = await this.#wholeId(project, id, writer);
    const comment = text === undefined ? {} : { comment: { text } };
    const write = this.#write(
      project,
      ticket,
      writer,
      (repository, stamp) => repository.saveTicket({ ...stamp, ticket, fields, ...comment }),
    );
    return await this.#viewOf(project, await this.#explained(project, fields, write));
  }

  /** Adds a comment to a ticket; `id` may be its number, or a prefix. */
  async comment(
    project: Project,
    id: string,
    { comment: text, mimetype }: NewComment,
    writer: TicketWriter,
  ): Promise<TicketComment & { readonly ticket_uuid: string }> {
    const ticket = await this.#wholeId(project, id, writer);
    const user = writer.actor.name;
    const comment = { text, mimetype };
    const { hash: uuid, date } = await this.#write(
      project,
      ticket,
      writer,
      (repository, stamp) => repository.changeTicket({ ...stamp, ticket, fields: [], comment }),
    );
    const timestamp = isoOf(date);
    return { uuid, ticket_uuid: ticket, timestamp, user, comment: text, mimetype };
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
      write: (repository, stamp) =>
        repository.changeTicket({ ...stamp, ticket, fields: [], comment: { text: comment } }),
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

  #write<T>(
    project: Project,
    ticket: string,
    { caller, actor, generation }: TicketWriter,
    write: (repository: PooledRepository, stamp: Stamp) => Promise<T>,
  ): Promise<T> {
    return this.#repositories.write(project, {
      caller,
      user: actor.name,
      subject: null,
      write: async (repository, stamp) => {
        await this.#claims.touch(project, { ticket, actor, generation });
        try {
          return await write(repository, stamp);
        } catch (error) {
          throw serviceErrorOf(error) instanceof NotFound ? ticketNotFound() : error;
        }
      },
    });
  }

  /** The whole id of a ticket. One that is whole already is known to exist only once it is written. */
  async #wholeId(project: Project, id: string, { generation }: TicketWriter): Promise<string> {
    if (generation === undefined && WHOLE_ID.test(id)) return id;
    return (await this.resolve(project, id)).uuid;
  }

  /** Explains the refusal of a write by the fields that it sets. */
  async #explained<T>(project: Project, fields: readonly Field[], write: Promise<T>): Promise<T> {
    try {
      return await write;
    } catch (error) {
      if (error instanceof Invalid) {
        const known = await this.#repositories.read(project, (read) => read.ticketFields());
        requireFields(fields, known);
      }
      throw error;
    }
  }

  async #viewOf(project: Project, ticket: Ticket): Promise<TicketView> {
    const claim = this.#claims.active(project, ticket.uuid);
    const strikes = this.#claims.strikes(project, ticket.uuid);
    const [numbered] = await this.numbers.with(project, [ticket]);
    return Object.assign(numbered!, {
      claim: claim === null ? null : viewOfClaim(claim),
      strikes,
    });
  }
}

/** What a read finds; `absence` is the error's text if there is nothing. */
async function found<T>(absence: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw error instanceof NotFound ? new NotFound(absence) : error;
  }
}

/** A ticket's id that is no prefix. */
const WHOLE_ID = /^[0-9a-f]{40}$/;

function ticketNotFound(): NotFound {
  return new NotFound("Ticket not found");
}

function withStrikes(ref: Numbered, strikes: number): StruckTicket {
  return Object.assign(ref, { strikes });
}

function withoutEmpty(values: Readonly<Record<string, string | undefined>>) {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value));
}
