import {
  isWriteRefused,
  type Paging,
  SearchIndex,
  searchIndexPath,
  type SearchKind,
  type SearchMatch,
} from "../../services/engines/fossil/mod.ts";
import { print, visible } from "../output.ts";
import { printJson, printRest, reading, readPages, type Session, shortHash } from "./session.ts";

interface SearchCommandOptions extends Paging {
  readonly kind?: readonly SearchKind[];
  readonly json?: boolean;
}

/** `muster fossil search`: full-text search; makes or updates the index beside the repository. */
export async function search(
  file: string,
  words: readonly string[],
  { kind, json = false, ...paging }: SearchCommandOptions,
): Promise<void> {
  await reading(file, (session) => {
    const query = words.join(" ");
    const kinds = kind === undefined ? {} : { kinds: kind };
    const result = searchIndex(
      session,
      (index) => readPages(paging, "matches", (page) => index.search({ ...page, ...kinds, query })),
    );
    if (json) return printJson(result);
    for (const match of result.matches) {
      print(visible(`${match.kind} ${titleOf(match)}`));
      print(`  ${visible(match.snippet.replace(/\s+/g, " "))}`);
    }
    printRest(result.matches.length, result.total);
  });
}

/** Searches the index beside the repository, or one in memory if none can be written. */
function searchIndex<T>({ path, reader }: Session, search: (index: SearchIndex) => T): T {
  try {
    using index = SearchIndex.open(searchIndexPath(path), reader);
    return search(index);
  } catch (error) {
    if (!isWriteRefused(error)) throw error;
  }
  using index = SearchIndex.inMemory(reader);
  return search(index);
}

function titleOf(match: SearchMatch): string {
  switch (match.kind) {
    case "checkin":
      return `${shortHash(match.uuid)} ${match.user}`;
    case "ticket":
      return `${shortHash(match.uuid)} ${match.status}: ${match.title}`;
    case "wiki":
      return match.name;
    case "technote":
      return `${shortHash(match.id)} ${match.comment}`;
    case "forum":
      return `${shortHash(match.uuid)} ${match.title}`;
    case "code":
      return `${match.path}:${match.line}`;
  }
}
