import { getTimeline } from "../../../services/work/code/operations.ts";
import { firstLine } from "../../parts/files.tsx";
import { definePage } from "../../page.ts";
import { CodeProject } from "../../code_project.ts";
import type { Visit } from "../../visit.ts";
import { filtersOf, type TimelineCheckin } from "./timeline.tsx";

/** The timeline as a feed (Atom, RFC 4287), with the filters of the page. */
export const page = definePage({ opens: "anybody", show });

const ENTRIES = 30;

async function show(visit: Visit): Promise<Response> {
  const project = new CodeProject(visit);
  const query = { ...filtersOf(visit), per_page: ENTRIES };
  const { checkins } = await project.invoke(getTimeline, query);
  const { origin } = visit;
  const { name, description, created_at } = project.view;
  const self = origin + visit.url.pathname + visit.url.search;
  const feed = `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<title>${xml(name)}</title>
<subtitle>${xml(description)}</subtitle>
<id>${xml(self)}</id>
<link rel="self" type="application/atom+xml" href="${xml(self)}"/>
<link rel="alternate" type="text/html" href="${xml(origin + project.to.at("/timeline"))}"/>
<updated>${xml(checkins[0]?.timestamp ?? created_at)}</updated>
${checkins.map((checkin) => entryOf(checkin, origin, project)).join("")}</feed>
`;
  return visit.context.body(feed, 200, {
    "Content-Type": "application/atom+xml; charset=utf-8",
    "Cache-Control": "private, no-cache",
    "Content-Security-Policy": "sandbox; default-src 'none'",
  });
}

function entryOf(
  { uuid, comment, user, timestamp, branch }: TimelineCheckin,
  origin: string,
  { to }: CodeProject,
): string {
  const address = xml(origin + to.checkin(uuid));
  return `<entry>
<title>${xml(firstLine(comment))}</title>
<id>${address}</id>
<link rel="alternate" type="text/html" href="${address}"/>
<updated>${xml(timestamp)}</updated>
<author><name>${xml(user || "nobody")}</name></author>
<category term="${xml(branch)}"/>
<content type="text">${xml(comment)}</content>
</entry>
`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};

/** Text for XML 1.0, which has no place for most control characters. */
function xml(text: string): string {
  return text.toWellFormed()
    // deno-lint-ignore no-control-regex
    .replace(/[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, "\ufffd")
    .replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
}
