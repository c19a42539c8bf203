import type {
  ReadResourceResult,
  Resource,
  ResourceTemplateType,
} from "@modelcontextprotocol/server";
import { contentTypeOf } from "../routes/projects/content_headers.ts";
import type { ProjectApi } from "../routes/projects/project_api.ts";
import { getFile } from "../services/work/code/operations.ts";
import { Invalid, NotFound, TooLarge } from "../services/kernel/errors.ts";
import type { Caller, Principal } from "../services/people/identity/mod.ts";
import { getTicket, listTickets } from "../services/work/tickets/operations.ts";
import { getWikiPage, listWikiPages } from "../services/work/wiki/operations.ts";
import { textOf } from "./text_files.ts";

/** Largest resource, in bytes. */
const MAX_BYTES = 2 ** 20;
/** Most wiki pages, and most tickets, of a project in the list. */
const MAX_LISTED = 100;
/** Most projects without resources that one page of the list passes over. */
const MAX_EMPTY = 50;

/** What a client can read by a URI. */
export interface Resources {
  readonly templates: ResourceTemplateType[];
  /** Whether there may be some for a principal. */
  opens(principal: Principal): boolean;
  /** @throws Invalid if the cursor is not one of this list */
  list(
    caller: Caller,
    cursor: string | undefined,
  ): Promise<{ resources: Resource[]; nextCursor?: string }>;
  /** @throws {ServiceError} It does not exist, the caller may not read it, or it is too large. */
  read(uri: string, caller: Caller): Promise<ReadResourceResult>;
}

/** Files, tickets and wiki pages of projects, as resources; each read has the caller's rights. */
export class ProjectResources implements Resources {
  readonly #api: ProjectApi;

  constructor(api: ProjectApi) {
    this.#api = api;
  }

  opens(principal: Principal): boolean {
    return this.#api.mayAnywhere(principal, "read");
  }

  get templates(): ResourceTemplateType[] {
    return [
      {
        uriTemplate: "muster://project/{slug}/file/{+path}{?checkin}",
        name: "file",
        description: "A file of a project, at the tip of its main branch or at a check-in",
      },
      {
        uriTemplate: "muster://project/{slug}/ticket/{uuid}",
        name: "ticket",
        description: "A ticket with its comments",
        mimeType: "application/json",
      },
      {
        uriTemplate: "muster://project/{slug}/wiki/{name}",
        name: "wiki page",
        description: "The text of a wiki page",
      },
    ];
  }

  /**
   * Lists wiki pages and tickets, one project per page. Projects that have none are passed over, so
   * that clients which take an empty page for the end find the rest.
   */
  async list(
    caller: Caller,
    cursor: string | undefined,
  ): Promise<{ resources: Resource[]; nextCursor?: string }> {
    if (cursor !== undefined && !/^\d{1,9}$/.test(cursor)) {
      throw new Invalid("The cursor is not one of this list; leave it out to begin again");
    }
    const offset = Number(cursor ?? 0);
    const { projects, total } = this.#api.reachable(caller.principal, {
      limit: MAX_EMPTY + 1,
      offset,
    });
    let resources: Resource[] = [];
    let next = offset;
    for (const { slug } of projects) {
      resources = await this.#resourcesOf(slug, caller);
      next++;
      if (resources.length > 0) break;
    }
    return { resources, ...(next < total ? { nextCursor: String(next) } : {}) };
  }

  async #resourcesOf(slug: string, caller: Caller): Promise<Resource[]> {
    const [wiki, tickets] = await Promise.all([
      this.#api.invoke(slug, listWikiPages, {}, caller),
      this.#api.invoke(slug, listTickets, { per_page: MAX_LISTED }, caller),
    ]);
    return [
      ...wiki.pages.slice(0, MAX_LISTED).map(({ name }) => ({
        uri: `muster://project/${slug}/wiki/${encodeURIComponent(name)}`,
        name: `${slug}: ${name}`,
        description: `Wiki page of ${slug}`,
      })),
      ...tickets.tickets.map(({ uuid, title }) => ({
        uri: `muster://project/${slug}/ticket/${uuid}`,
        name: `${slug}: ${title ?? uuid}`,
        description: `Ticket of ${slug}`,
        mimeType: "application/json",
      })),
    ];
  }

  async read(uri: string, caller: Caller): Promise<ReadResourceResult> {
    const { slug, kind, rest, checkin } = partsOf(uri);
    switch (kind) {
      case "file":
        return { contents: [await this.#file(uri, { slug, path: rest, checkin }, caller)] };
      case "wiki": {
        const { content, mimetype } = await this.#api.invoke(
          slug,
          getWikiPage,
          { name: rest, html: "false" },
          caller,
        );
        return { contents: [{ uri, mimeType: mimetype, text: content }] };
      }
      default: {
        const text = JSON.stringify(
          await this.#api.invoke(slug, getTicket, { uuid: rest }, caller),
        );
        if (new TextEncoder().encode(text).length > MAX_BYTES) {
          throw new Invalid("The ticket is larger than 1 MiB: get_ticket reads parts of it");
        }
        return { contents: [{ uri, mimeType: "application/json", text }] };
      }
    }
  }

  async #file(
    uri: string,
    { slug, path, checkin }: { slug: string; path: string; checkin: string | null },
    caller: Caller,
  ) {
    const query = { path, checkin: checkin ?? undefined, max_bytes: MAX_BYTES };
    const read = this.#api.invoke(slug, getFile, query, caller);
    const { content, is_binary } = await read.catch((error: unknown) => {
      if (!(error instanceof TooLarge)) throw error;
      throw new Invalid("The file is larger than 1 MiB: get_file reads parts of it");
    });
    const mimeType = contentTypeOf(path, is_binary);
    const text = textOf(content);
    if (text !== null) return { uri, mimeType, text };
    const blob = btoa(Array.from(content, (byte) => String.fromCharCode(byte)).join(""));
    return { uri, mimeType, blob };
  }
}

/**
 * Reads the URI of a resource in a project.
 *
 * @throws NotFound if no resource has such a URI
 */
export function partsOf(uri: string) {
  const [, slug, kind, encoded, query] =
    /^muster:\/\/project\/([^/?#]+)\/(file|ticket|wiki)\/([^?#]+)(?:\?([^#]*))?$/.exec(uri) ?? [];
  try {
    if (slug !== undefined && encoded !== undefined) {
      const checkin = new URLSearchParams(query).get("checkin");
      return { slug, kind, rest: decodeURIComponent(encoded), checkin };
    }
  } catch {
    // The escapes are wrong.
  }
  throw new NotFound("There is no such resource; resources/templates/list shows the forms of URIs");
}
