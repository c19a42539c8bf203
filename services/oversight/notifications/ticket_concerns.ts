import type { Ticket } from "../../engines/fossil/mod.ts";
import type { AccountDirectory } from "../../people/identity/mod.ts";
import type { Project, ProjectRepositories } from "../../work/projects/mod.ts";
import type { Claim, Claims } from "../../work/tickets/mod.ts";
import type { Concern } from "./concern.ts";
import { isByMuster, type ProjectEvent } from "./events.ts";
import { mentioned } from "./mentions.ts";
import { excerpt, quoted, short } from "./texts.ts";

type TicketEvent = Extract<ProjectEvent, { readonly type: "project.ticket" }>;

export interface TicketConcernsOptions {
  readonly accounts: Pick<AccountDirectory, "get">;
  readonly repositories: Pick<ProjectRepositories, "read">;
  readonly claims: Pick<Claims, "active">;
}

/** The field with a comment, and the one with the description. */
const COMMENT = "icomment";
const DESCRIPTION = "comment";

/** The fields whose values stay, and all with text. */
const WORDING = ["title", DESCRIPTION];
const TEXTS = [...WORDING, COMMENT];

/**
 * Finds the accounts that a change of a ticket concerns: the holder of its claim, the accounts that
 * its text mentions with `@`, and earlier commenters, whom a comment answers.
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

  async of(project: Project, event: TicketEvent): Promise<readonly Concern[]> {
    // Of the landing on which muster comments, the author knows already.
    if (isByMuster(event)) return [];
    const { data } = event;
    const { ticket, title, user: from, fields, status } = data;
    const claim = this.#claimAt(project, event);
    const hasText = fields.some((field) => TEXTS.includes(field));
    if (claim === null && !hasText) return [];
    const about = { ticket };
    const name = `ticket ${short(ticket)}${quoted(title)}`;
    const changed = `${from} has changed ${name}, which you hold: ${status}`;
    const toHolder = (text: string) =>
      claim === null
        ? []
        : [{ to: { key: claim.holder.key }, kind: "answer", from, text, about } as const];
    if (!hasText) return toHolder(changed);
    const { comments, changes } = await this.#options.repositories.read(
      project,
      (repository) => repository.ticket(ticket),
    );
    const { comment, text, mentions } = textsOf(changes, data.uuid);
    const said = `${from} commented on ${name}${excerpt(comment)}`;
    const entry = { from, text: said, about };
    const speakers = comment === ""
      ? []
      : [...new Set([changes[0]?.user ?? "", ...comments.map(({ user }) => user)])];
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

  /** The claim that holds the ticket now, if it did so before the change. */
  #claimAt(project: Project, { time, data }: TicketEvent): Claim | null {
    const claim = data.is_new ? null : this.#options.claims.active(project, data.ticket);
    return claim !== null && claim.claimedAt <= Date.parse(time) ? claim : null;
  }
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
