import type { Child } from "hono/jsx";
import type { SearchMatch } from "../../services/engines/fossil/mod.ts";
import type { ProjectAddresses } from "../addresses.ts";
import { withQuery } from "../visit.ts";
import { firstLine } from "./files.tsx";
import { Time } from "./time.tsx";

/** What a match of a kind is called. */
const WORDS: Readonly<Record<SearchMatch["kind"], string>> = {
  code: "File",
  checkin: "Check-in",
  ticket: "Ticket",
  wiki: "Wiki",
  technote: "Technote",
  forum: "Forum",
};

/** What people may write into the field of a search. */
export function SearchHint({ children }: { readonly children?: Child }) {
  return (
    <p class="hint">
      Finds whole words, and all of them must occur. <code>start*</code> finds words that begin so;
      {" "}
      <code>"a phrase"</code> and <code>-without</code> also work. {children}
    </p>
  );
}

/** A match, with a link to it and the text around it. */
export function MatchEntry({ to, match, isAmongOthers = false }: {
  readonly to: ProjectAddresses;
  readonly match: SearchMatch;
  /** Whether the list has matches of other kinds too. */
  readonly isAmongOthers?: boolean;
}) {
  const { href, title, about } = shown(to, match);
  return (
    <li>
      <div class="row">
        {isAmongOthers && <span class="badge">{WORDS[match.kind]}</span>}
        <a class="strong" href={href}>{title}</a>
        <span class="soft small">{about}</span>
      </div>
      <p class={match.kind === "code" ? "snippet mono" : "snippet"}>
        {marked(match.snippet, match.highlights)}
      </p>
    </li>
  );
}

/** Where a match is, and what it is called. */
function shown(to: ProjectAddresses, match: SearchMatch): {
  readonly href: string;
  readonly title: string;
  readonly about: Child;
} {
  switch (match.kind) {
    case "code":
      return {
        href: withQuery(to.file(match.checkin, match.path), { line: match.line }),
        title: match.path,
        about: `line ${match.line}`,
      };
    case "checkin":
      return {
        href: to.checkin(match.uuid),
        title: firstLine(match.comment),
        about: <About words={match.user} at={match.timestamp} />,
      };
    case "ticket":
      return {
        href: to.ticket(match.uuid),
        title: match.title || "(no title)",
        about: <About words={match.status} at={match.created} />,
      };
    case "wiki":
      return {
        href: to.wiki(match.name),
        title: match.name,
        about: <Time at={match.last_modified} />,
      };
    case "technote":
      return {
        href: to.technote(match.id),
        title: firstLine(match.comment),
        about: <Time at={match.last_modified} />,
      };
    case "forum":
      return {
        href: to.at(`/forum/${match.uuid}`),
        title: match.title,
        about: <Time at={match.last_modified} />,
      };
  }
}

function About({ words, at }: { readonly words: string; readonly at: string }) {
  return (
    <>
      {words}, <Time at={at} />
    </>
  );
}

/** A text whose matching words are marked. */
function marked(text: string, highlights: SearchMatch["highlights"]): Child[] {
  const parts: Child[] = [];
  let end = 0;
  for (const [start, stop] of highlights) {
    if (start < end) continue;
    parts.push(text.slice(end, start), <mark>{text.slice(start, stop)}</mark>);
    end = stop;
  }
  return [...parts, text.slice(end)];
}
