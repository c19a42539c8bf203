import {
  type EventKind,
  type Paging,
  readActivity,
  readHistory,
  readTimeline,
  type TimelineOptions,
} from "../../services/fossil/mod.ts";
import { print, table, visible } from "../output.ts";
import { onOneLine, printJson, shortHash, shortTime } from "./format.ts";
import { printRest, readPages } from "./pages.ts";
import { reading } from "./session.ts";

interface ListOptions extends Paging {
  readonly json?: boolean;
}

interface TimelineCommandOptions extends ListOptions, TimelineOptions {
  readonly kind?: readonly EventKind[];
}

/** `muster fossil timeline`: check-ins or, with `kind`, other events, newest first. */
export async function timeline(file: string, options: TimelineCommandOptions): Promise<void> {
  const { json = false, kind, ...query } = options;
  await reading(file, ({ reader }) => {
    if (kind !== undefined) {
      const activity = reader.read(() =>
        readPages(
          query,
          "events",
          (page) => readActivity(reader, { ...query, ...page, kinds: kind }),
        )
      );
      if (json) return printJson(activity);
      const rows = activity.events.map((event) => [
        shortTime(event.timestamp),
        shortHash(event.uuid),
        event.kind,
        event.user,
        onOneLine(event.comment),
      ]);
      print(table(["TIME", "HASH", "KIND", "USER", "COMMENT"], rows));
      return printRest(rows.length, activity.total);
    }
    const result = reader.read(() =>
      readPages(query, "checkins", (page) => readTimeline(reader, { ...query, ...page }))
    );
    if (json) return printJson(result);
    for (const checkin of result.checkins) {
      const { timestamp, uuid, branch, tags, user, comment } = checkin;
      const notes = [
        branch,
        ...tags,
        ...checkin.is_merge ? ["merge"] : [],
        ...checkin.is_closed ? ["closed"] : checkin.is_leaf ? ["leaf"] : [],
      ];
      print(`${shortTime(timestamp)} [${shortHash(uuid)}] ${visible(onOneLine(comment))}`);
      print(`                 ${visible(user)} (${visible(notes.join(", "))})`);
    }
    printRest(result.checkins.length, result.total);
  });
}

/** `muster fossil history`: the check-ins that changed a file, newest first. */
export async function history(
  file: string,
  path: string,
  options: ListOptions & { readonly checkin?: string },
): Promise<void> {
  const { json = false, ...query } = options;
  await reading(file, ({ reader }) => {
    const result = reader.read(() =>
      readPages(query, "checkins", (page) => readHistory(reader, { ...query, ...page, path }))
    );
    if (json) return printJson(result);
    const rows = result.checkins.map((version) => [
      shortTime(version.timestamp),
      shortHash(version.uuid),
      version.change_type,
      version.prev_name === null ? version.name : `${version.prev_name} -> ${version.name}`,
      version.user,
      onOneLine(version.comment),
    ]);
    print(table(["TIME", "HASH", "CHANGE", "FILE", "USER", "COMMENT"], rows));
    printRest(rows.length, result.total);
  });
}
