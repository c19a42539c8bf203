import type { Project, ProjectRepositories } from "../../work/projects/mod.ts";
import type { Claim, Claims, Numbered, TicketNumbers } from "../../work/tickets/mod.ts";
import type { Concern } from "./concern.ts";
import { isByMuster, type ProjectEvent } from "./events.ts";
import { excerpt, listed, mentioned, quoted, short, ticketName } from "./lines.ts";
import type { Ticket, TicketRef } from "../../engines/fossil/mod.ts";

type TicketEvent = Extract<ProjectEvent, { readonly type: "project.ticket" }>;

interface TicketConcernsOptions {
  readonly repositories: Pick<ProjectRepositories, "read">;
  readonly claims: Pick<Claims, "active">;
  readonly numbers: Pick<TicketNumbers, "with">;
}

/** The field with a comment, and the one with the description. */
const COMMENT = "icomment";
const DESCRIPTION = "comment";

/** The fields whose values stay, and all with text. */
const WORDING = ["title", DESCRIPTION];
const TEXTS = [...WORDING, COMMENT];

/**
 * Finds the accounts that a change of a ticket concerns: the holder of its claim, whom it is assigned
 * to, the accounts that its text mentions with `@`, earlier commenters, whom a comment answers, and
 * those who follow the tickets that have waited for it.
 */
export class TicketConcerns {
  readonly #options: TicketConcernsOptions;
  /** The ticket that was read last: changes that came together need it only once. */
  #last: Ticket | null = null;

  constructor(options: TicketConcernsOptions) {
    this.#options = options;
  }

  /** The name of a ticket in a text. */
  async nameOf(project: Project, named: Parameters<typeof ticketName>[0]): Promise<string> {
    const { repositories } = this.#options;
    const read = repositories.read(project, (repository) => repository.resolveTicket(named.ticket));
    const { title } = await read.catch(() => ({ title: "" }));
    return ticketName(named) + quoted(title);
  }

  async of(project: Project, event: TicketEvent): Promise<readonly Concern[]> {
    return [
      ...await this.#ofAssigned(project, event),
      ...await this.#ofChanged(project, event),
      ...await this.#ofFreed(project, event),
    ];
  }

  /** Whom the ticket is assigned to, if the change assigns it or says for what it waits. */
  async #ofAssigned(project: Project, { data }: TicketEvent): Promise<readonly Concern[]> {
    const { ticket, user: from, fields, is_new } = data;
    const isAssigned = fields.includes("assignee");
    if (!isAssigned && (is_new || !fields.includes("blocked_by"))) return [];
    const [found] = await this.#numbered(
      project,
      await this.#options.repositories.read(project, async (repository) => [
        await repository.resolveTicket(ticket),
      ]),
    );
    if (found === undefined || found.assignee === "") return [];
    const name = ticketName(data) + quoted(found.title);
    const text = isAssigned
      ? `${from} has assigned ${name} to you`
      : `${from} has changed the tickets for which ${name} waits`;
    const open = found.blocked_by.filter(({ is_closed }) => !is_closed).map(nameOfBlocker);
    const now = found.is_blocked ? `; it is blocked by ${listed(open)}` : "";
    const to = { name: found.assignee };
    return [{ to, kind: "ticket", from, text: text + now, about: { ticket } }];
  }

  /** Those who follow the tickets that no longer wait because the change closes this one. */
  async #ofFreed(project: Project, { data }: TicketEvent): Promise<readonly Concern[]> {
    if (data.closes !== true) return [];
    const { ticket: closed, user: from } = data;
    const { repositories } = this.#options;
    const freed = await this.#numbered(
      project,
      await repositories.read(project, (repository) => repository.ticketsFreedBy(closed)),
    );
    const concerns: Concern[] = [];
    for (const { uuid: ticket, number, title, assignee } of freed) {
      const { changes, comments } = await repositories.read(
        project,
        (repository) => repository.ticket(ticket),
      );
      const holder = this.#options.claims.active(project, ticket);
      const name = ticketName({ ticket, ticket_number: number }) + quoted(title);
      const text = `${name} is no longer blocked: ${from} has closed ${ticketName(data)}`;
      const names = [assignee, ...speakersOf({ changes, comments })].filter((one) => one !== "");
      const whom = [
        ...holder === null ? [] : [{ key: holder.holder.key, name: holder.holder.name }],
        ...names.map((one) => ({ name: one })),
      ];
      const entry = { kind: "ticket", from, isNews: true, about: { ticket } } as const;
      concerns.push(...whom.map((to): Concern => ({ ...entry, to, text: capitalized(text) })));
    }
    return concerns;
  }

  async #numbered(project: Project, refs: readonly TicketRef[]): Promise<readonly Numbered[]> {
    return await this.#options.numbers.with(project, refs);
  }

  async #ofChanged(project: Project, event: TicketEvent): Promise<readonly Concern[]> {
    // Of the landing on which muster comments, the author knows already.
    if (isByMuster(event)) return [];
    const { data } = event;
    const { ticket, title, user: from, fields, status } = data;
    const claim = this.#claimAt(project, event);
    const hasText = fields.some((field) => TEXTS.includes(field));
    if (claim === null && !hasText) return [];
    const about = { ticket };
    const name = ticketName(data) + quoted(title);
    const changed = `${from} has changed ${name}, which you hold: ${status}`;
    const toHolder = (text: string) =>
      claim === null ? [] : [
        {
          to: { key: claim.holder.key, name: claim.holder.name },
          kind: "answer",
          from,
          text,
          about,
        } as const,
      ];
    if (!hasText) return toHolder(changed);
    const { assignee, comments, changes } = await this.#withChange(project, ticket, data.uuid);
    const { comment, text, mentions } = textsOf(changes, data.uuid);
    const said = `${from} commented on ${name}${excerpt(comment)}`;
    const entry = { from, text: said, about };
    const speakers = comment === ""
      ? []
      : [...new Set([...speakersOf({ changes, comments }), assignee])];
    const mention = comment !== "" ? said : `${from} mentioned you in ${name}${excerpt(text)}`;
    return [
      ...toHolder(comment === "" ? changed : said),
      ...mentions.map((one): Concern => ({
        ...entry,
        text: mention,
        to: { name: one },
        kind: "mention",
      })),
      ...speakers.filter((one) => one !== "")
        .map((one): Concern => ({ ...entry, to: { name: one }, kind: "answer" })),
    ];
  }

  /** A ticket with its changes up to one of them at least. */
  async #withChange(project: Project, id: string, change: string): Promise<Ticket> {
    const last = this.#last;
    if (last?.uuid === id && last.changes.some(({ uuid }) => uuid === change)) return last;
    const { repositories } = this.#options;
    return this.#last = await repositories.read(project, (repository) => repository.ticket(id));
  }

  /** The claim that holds the ticket now, if it did so before the change. */
  #claimAt(project: Project, { time, data }: TicketEvent): Claim | null {
    const claim = data.is_new ? null : this.#options.claims.active(project, data.ticket);
    return claim !== null && claim.claimedAt <= Date.parse(time) ? claim : null;
  }
}

/** Who filed a ticket, and who commented on it. */
function speakersOf({ changes, comments }: Pick<Ticket, "changes" | "comments">) {
  return [...new Set([changes[0]?.user ?? "", ...comments.map(({ user }) => user)])];
}

function nameOfBlocker({ uuid, number }: Numbered["blocked_by"][number]): string {
  return number === null ? short(uuid) : `#${number}`;
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/**
 * The comment of a change and its description of the ticket, each empty if the change has none, and
 * the names that the change mentions. The title and the description mention a name only once.
 */
function textsOf(changes: Ticket["changes"], uuid: string) {
  const index = changes.findIndex((change) => change.uuid === uuid);
  const valuesOf = (change: Ticket["changes"][number] | undefined, names: readonly string[]) =>
    (change?.fields ?? []).filter(({ name }) => names.includes(name)).map(({ value }) => value);
  const change = changes[index];
  const [comment = ""] = valuesOf(change, [COMMENT]);
  const before = changes.slice(0, Math.max(index, 0)).flatMap((one) => valuesOf(one, WORDING));
  const known = new Set(mentioned(before.join("\n")));
  const added = mentioned(valuesOf(change, WORDING).join("\n")).filter((name) => !known.has(name));
  const [text = ""] = valuesOf(change, [DESCRIPTION]);
  return { comment, text, mentions: [...new Set([...mentioned(comment), ...added])] };
}
