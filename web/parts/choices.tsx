import { PROJECT_EVENT_NAMES } from "../../services/engines/events/mod.ts";
import type { Visit } from "../visit.ts";

const FIELD = "types";

/** The events that a webhook sends; {@linkcode chosenEvents} reads it. */
export function EventChoice({ visit, types }: {
  readonly visit: Visit;
  /** Those of the webhook so far; none for all events. */
  readonly types: readonly string[];
}) {
  const chosen = visit.form.size === 0 ? types : chosenEvents(visit);
  return (
    <fieldset class="choices" aria-describedby={`${FIELD}-hint`}>
      <legend>Events</legend>
      {PROJECT_EVENT_NAMES.map((name) => (
        <label>
          <input type="checkbox" name={FIELD} value={name} checked={chosen.includes(name)} />{" "}
          {name.replaceAll("_", " ")}
        </label>
      ))}
      <p class="hint" id={`${FIELD}-hint`}>
        Choose none to have all of them, also those of later versions.
      </p>
    </fieldset>
  );
}

/** The names of the events that were chosen. */
export function chosenEvents(visit: Visit): readonly string[] {
  return visit.form.getAll(FIELD).filter((name) => name !== "");
}

/** The markups of texts, as Fossil names them. */
export const MARKUPS = [
  ["text/x-markdown", "Markdown"],
  ["text/x-fossil-wiki", "Fossil wiki"],
  ["text/plain", "Plain text"],
] as const;

/** Who may read a project. */
export const VISIBILITIES = [
  ["private", "Private: its members"],
  ["internal", "Internal: every account of this server"],
  ["public", "Public: everybody"],
] as const;
