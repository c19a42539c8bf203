import { Conflict } from "../../kernel/errors.ts";
import type { TechnotePage } from "../../engines/fossil/mod.ts";
import type { Caller } from "../../people/identity/mod.ts";
import type { Actor, Project, ProjectRepositories } from "../projects/mod.ts";
import type { NewTechnoteRequest, TechnoteChange } from "./schemas.ts";

/** Who writes a note. */
export interface TechnoteWriter {
  readonly caller: Caller;
  readonly actor: Actor;
}

/** What a version of a note says. */
type Content = Omit<NewTechnoteRequest, "timestamp"> & { readonly timestamp: string };

/** The technotes of projects, which are in the repositories. */
export class Technotes {
  readonly #repositories: Pick<ProjectRepositories, "read" | "write">;

  constructor(options: { readonly repositories: Pick<ProjectRepositories, "read" | "write"> }) {
    this.#repositories = options.repositories;
  }

  /** @throws NotFound; Invalid if a prefix fits several notes */
  read(project: Project, id: string): Promise<TechnotePage> {
    return this.#repositories.read(project, (repository) => repository.technote({ id }));
  }

  /** Makes a note. */
  create(
    project: Project,
    { timestamp, ...asked }: NewTechnoteRequest,
    { caller, actor }: TechnoteWriter,
  ): Promise<TechnotePage> {
    return this.#repositories.write(project, {
      caller,
      user: actor.name,
      subject: null,
      write: (repository, stamp) => {
        const content = fieldsOf({
          ...asked,
          timestamp: timestamp ?? new Date(stamp.date).toISOString(),
        });
        return repository.saveTechnote({ ...stamp, ...content });
      },
    });
  }

  /**
   * Writes the next version of a note. A version that would be equal is not written.
   *
   * @throws NotFound; Conflict if `parent` is not the newest version
   */
  change(
    project: Project,
    id: string,
    { parent, ...change }: TechnoteChange,
    { caller, actor }: TechnoteWriter,
  ): Promise<TechnotePage> {
    return this.#repositories.write(project, {
      caller,
      user: actor.name,
      // A prefix may name it.
      subject: "technotes",
      write: async (repository, stamp) => {
        const note = await repository.technote({ id });
        if (parent !== undefined && !note.uuid.startsWith(parent.toLowerCase())) {
          throw new Conflict(`The technote "${note.id}" has changed`);
        }
        const before = fieldsOf(merged(note, {}));
        const after = fieldsOf(merged(note, change));
        if (JSON.stringify(before) === JSON.stringify(after)) return note;
        const basedOn = note.uuid;
        return await repository.saveTechnote({ ...stamp, ...after, id: note.id, basedOn });
      },
    });
  }
}

function merged(note: TechnotePage, change: Omit<TechnoteChange, "parent">): Content {
  return {
    comment: change.comment ?? note.comment,
    content: change.content ?? note.content,
    mimetype: change.mimetype ?? note.mimetype as Content["mimetype"],
    timestamp: change.timestamp ?? note.timestamp,
    tags: change.tags ?? [...note.tags],
    color: change.color === undefined ? note.color : change.color,
  };
}

/** The content of a version as the engine takes it. */
function fieldsOf({ comment, content, mimetype, timestamp, tags, color }: Content) {
  return {
    comment,
    text: content,
    mimetype,
    eventDate: Date.parse(timestamp),
    tags: [...new Set(tags)].sort(),
    ...(color === null ? {} : { color }),
  };
}
