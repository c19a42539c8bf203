import { Conflict } from "../../kernel/errors.ts";
import type { PooledRepository } from "../../engines/fossil/mod.ts";
import type { Caller } from "../../people/identity/mod.ts";
import type { Actor, Project, ProjectRepositories } from "../projects/mod.ts";
import type { NewThreadRequest, ReplyRequest } from "./schemas.ts";

/** Who writes a post. */
export interface ForumWriter {
  readonly caller: Caller;
  readonly actor: Actor;
}

/** A post, and the first one of its thread. */
export interface WrittenPost {
  readonly uuid: string;
  readonly thread: string;
}

/** The forums of projects, which are in the repositories. */
export class Forum {
  readonly #repositories: Pick<ProjectRepositories, "write">;

  constructor(options: { readonly repositories: Pick<ProjectRepositories, "write"> }) {
    this.#repositories = options.repositories;
  }

  /** Begins a thread. */
  begin(
    project: Project,
    { title, content: text, mimetype }: NewThreadRequest,
    { caller, actor }: ForumWriter,
  ): Promise<WrittenPost> {
    return this.#repositories.write(project, {
      caller,
      user: actor.name,
      subject: null,
      write: async (repository, stamp) => {
        const uuid = await repository.post({ ...stamp, place: { title }, text, mimetype });
        return { uuid, thread: uuid };
      },
    });
  }

  /**
   * Answers a post.
   *
   * @param id the post, or a unique prefix of its id
   * @throws NotFound; Conflict if the post is deleted
   */
  answer(
    project: Project,
    id: string,
    { content: text, mimetype }: ReplyRequest,
    { caller, actor }: ForumWriter,
  ): Promise<WrittenPost> {
    return this.#repositories.write(project, {
      caller,
      user: actor.name,
      subject: null,
      write: async (repository, stamp) => {
        const { inReplyTo, thread } = await placeOf(repository, id);
        const uuid = await repository.post({ ...stamp, place: { inReplyTo }, text, mimetype });
        return { uuid, thread };
      },
    });
  }
}

/** Where the answer to a post goes. */
async function placeOf(repository: PooledRepository, id: string) {
  const { uuid } = await repository.resolveArtifact(id);
  const post = await repository.forumPost(uuid);
  if (post.is_deleted) throw new Conflict("The post is deleted");
  return { inReplyTo: post.uuid, thread: post.thread };
}
