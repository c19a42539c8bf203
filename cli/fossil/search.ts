import {
  type Paging,
  SearchIndex,
  type SearchKind,
  type SearchMatch,
} from "../../services/fossil/mod.ts";
import { print, visible } from "../output.ts";
import { printJson, shortHash } from "./format.ts";
import { reading } from "./session.ts";

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
  await reading(file, ({ path, reader }) => {
    using index = SearchIndex.open(SearchIndex.pathFor(path), reader);
    const result = index.search({
      ...paging,
      query: words.join(" "),
      ...kind === undefined ? {} : { kinds: kind },
    });
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
