import {
  isWriteRefused,
  type Paging,
  SearchIndex,
  type SearchKind,
  type SearchMatch,
  type SearchOptions,
  type SearchResult,
} from "../../services/fossil/mod.ts";
import { print, visible } from "../output.ts";
import { printJson, shortHash } from "./format.ts";
import { reading, type Session } from "./session.ts";

interface SearchCommandOptions extends Paging {
  readonly kind?: readonly SearchKind[];
  readonly json?: boolean;
}

/** `muster fossil search`: full text search; the index beside the repository is made or updated. */
export async function search(
  file: string,
  words: readonly string[],
  { kind, json = false, ...paging }: SearchCommandOptions,
): Promise<void> {
  await reading(file, (session) => {
    const query = words.join(" ");
    const kinds = kind === undefined ? {} : { kinds: kind };
    const result = searchIndex(session, { ...paging, ...kinds, query });
    if (json) return printJson(result);
    for (const match of result.matches) {
      print(visible(`${match.kind} ${titleOf(match)}`));
      print(`  ${visible(match.snippet.replace(/\s+/g, " "))}`);
    }
    if (result.total > result.matches.length) {
      print(`${result.matches.length} of ${result.total}; -n tells how many are shown`);
    }
  });
}

/** Searches the index beside the repository, or one in memory where none can be written. */
function searchIndex({ path, reader }: Session, options: SearchOptions): SearchResult {
  try {
    using index = SearchIndex.open(SearchIndex.pathFor(path), reader);
    return index.search(options);
  } catch (error) {
    if (!isWriteRefused(error)) throw error;
  }
  using index = SearchIndex.inMemory(reader);
  return index.search(options);
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
