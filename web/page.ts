import type { Child } from "hono/jsx";
import type { Visit } from "./visit.ts";

/**
 * Who opens a page: everybody, who then sees what the project allows; people and admins who are
 * logged in; or admins alone.
 */
export type Opens = "anybody" | "session" | "admin";

/** What a page shows. */
export interface View {
  /** The title of the page, without the name of the program. */
  readonly title: string;
  readonly body: Child;
  /** 200 by default. */
  readonly status?: number;
  /** The project that the page belongs to, whose navigation it then shows. */
  readonly project?: ProjectPlace;
  /** The address of the event stream that the page follows, such as `/live/projects/demo`. */
  readonly live?: string;
  /** Elements for the head of a public page, such as a feed or a description. */
  readonly head?: Child;
  /** Whether the page fills the window, as a chat does, instead of scrolling as a whole. */
  readonly fills?: boolean;
  /** Whether a guest has the navigation too; a page of a project has it anyway. */
  readonly hasPlaces?: boolean;
}

/** The place of a page inside a project. */
export interface ProjectPlace {
  readonly slug: string;
  readonly name: string;
  readonly visibility: string;
  /** Whether the visitor may change its settings; if not, the navigation leaves them out. */
  readonly mayAdmin?: boolean;
  /** The tab of the navigation that is current. */
  readonly tab: string;
}

/** Where an action leads: the browser loads this address, which shows the notice once. */
export interface Leads {
  readonly to: string;
  readonly notice?: string;
}

/** A page. Its address is in `table.ts`. */
export interface Page {
  readonly opens: Opens;
  /** Answers GET. */
  show(visit: Visit): View | Response | Promise<View | Response>;
  /**
   * What the page shows as JSON: a path of the project's API, from `/api/` on, or one of the
   * server's, from `/v1/` on. Programs that accept JSON and no HTML are led there.
   */
  json?(visit: Visit): string;
  /**
   * Answer forms: POST to the same address with the name of the action in the field `action`. If
   * an action throws an error of a service, the page is shown again with its sentence and with what
   * the person entered.
   */
  readonly actions?: Readonly<Record<string, Action>>;
  /**
   * The actions whose forms are kept in memory if the session ended before they were sent, until the
   * same account logs in again. Name none whose form has a password, a token or another secret.
   */
  readonly keeps?: readonly string[];
  /**
   * The actions that are refused while the disk is nearly full, although they call no operation:
   * operations refuse by themselves.
   */
  readonly newWork?: readonly string[];
}

export type Action = (visit: Visit) => Promise<Leads | View | Response>;

/** Gives a page its type. */
export function definePage(page: Page): Page {
  return page;
}
