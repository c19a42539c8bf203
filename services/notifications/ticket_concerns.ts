import type { AccountDirectory } from "../identity/mod.ts";
import type { Project, ProjectRepositories } from "../projects/mod.ts";
import type { Claims } from "../tickets/mod.ts";
import type { Concern } from "./concern.ts";
import { isByMuster, type ProjectEvent } from "./events.ts";
import { mentioned } from "./mentions.ts";
import { excerpt, quoted, short } from "./texts.ts";

export interface TicketConcernsOptions {
  readonly accounts: Pick<AccountDirectory, "get">;
  readonly repositories: Pick<ProjectRepositories, "read">;
  readonly claims: Pick<Claims, "active">;
}

/** The field with a comment. */
const COMMENT = "icomment";

/**
 * Finds the accounts that a change of a ticket concerns: the holder of its claim, the accounts that
 * a comment mentions with `@`, and earlier commenters, whom a comment answers.
 */
export class TicketConcerns {
  readonly #options: TicketConcernsOptions;

  constructor(options: TicketConcernsOptions) {
    this.#options = options;
  }

  /** The name of a ticket in a text. */
  async nameOf(project: Project, ticket: string): Promise<string> {
    const { repositories } = this.#options;
    const read = repositories.read(project, (repository) => repository.resolveTicket(ticket));
    const { title } = await read.catch(() => ({ title: "" }));
    return `ticket ${short(ticket)}${quoted(title)}`;
  }

  async of(
    project: Project,
    event: Extract<ProjectEvent, { readonly type: "project.ticket" }>,
  ): Promise<readonly Concern[]> {
    // Of the landing on which muster comments, the author knows already.
    if (isByMuster(event)) return [];
    const { data } = event;
    const { ticket, title, user: from, uuid, fields, status } = data;
    const claim = this.#options.claims.active(project, ticket);
    const isComment = fields.includes(COMMENT);
    if (claim === null && !isComment) return [];
    const about = { ticket };
    const name = `ticket ${short(ticket)}${quoted(title)}`;
    const holder = claim === null ? [] : [{ key: claim.holder.key }];
    if (!isComment) {
      const text = `${from} has changed ${name}, which you hold: ${status}`;
      return holder.map((to) => ({ to, kind: "answer", from, text, about }));
    }
    const { comments, changes } = await this.#options.repositories.read(
      project,
      (repository) => repository.ticket(ticket),
    );
    const comment = comments.find((one) => one.uuid === uuid)?.comment ?? "";
    const text = `${from} commented on ${name}${excerpt(comment)}`;
    const entry = { from, text, about };
    const speakers = new Set([changes[0]?.user, ...comments.map(({ user }) => user)]);
    return [
      ...holder.map((to): Concern => ({ ...entry, to, kind: "answer" })),
      ...mentioned(comment).map((name): Concern => ({ ...entry, to: { name }, kind: "mention" })),
      ...[...speakers].flatMap((name): Concern[] =>
        name === undefined || name === "" ? [] : [{ ...entry, to: { name }, kind: "answer" }]
      ),
    ];
  }
}
