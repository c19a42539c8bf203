import type { Child } from "hono/jsx";
import type { OpenProject } from "../../project.ts";
import type { Visit } from "../../visit.ts";

/** What a form of the settings did: a sentence, or something that is shown only once. */
export type Outcome = string | { readonly issued: Child } | { readonly to: string };

/** A part of a project's settings. */
export interface SettingsPart {
  /** Its name in the navigation. */
  readonly words: string;
  /** Whether only admins of the server may change it, and not those of the project. */
  readonly isForServer: boolean;
  show(visit: Visit, project: OpenProject): Child | Promise<Child>;
  /** The forms. Their names are unique among all parts. */
  readonly actions: Readonly<
    Record<string, (visit: Visit, project: OpenProject) => Promise<Outcome>>
  >;
}

/** Gives a part its type. */
export function definePart(part: SettingsPart): SettingsPart {
  return part;
}
