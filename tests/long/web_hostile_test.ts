import assert from "node:assert/strict";
import { shownText } from "../../services/engines/fossil/front/mod.ts";
import { call } from "../support/api.ts";
import { TestBrowser } from "../support/browser.ts";
import { addAdmin } from "../support/filled_server.ts";
import { fileNameOf, fillHostile, type HostilePlaces } from "../support/hostile_server.ts";
import { HOSTILE_LINES, HOSTILE_TEXTS } from "../support/hostile_texts.ts";
import { findHostile, findHostileIn, missingTexts } from "../support/page_checks.ts";
import { peer } from "../support/peers.ts";
import { type Program, startProgram } from "../support/program.ts";
import { sendForm } from "../support/visiting.ts";

const PROJECT = "/projects/hostile";

/** Pages, and the texts that they must show together, each as it was written. */
interface Place {
  readonly what: string;
  readonly paths: readonly string[];
  readonly texts: readonly string[];
}

const LINES = HOSTILE_LINES.map(({ text }) => text);
const TEXTS = HOSTILE_TEXTS.map(({ text }) => text.replaceAll("\0", "␀"));

/** The title of a page as a browser shows it: spaces stand for what can forge, and are one. */
function shownTitle(title: string): string {
  return shownText(title, "name").replace(/ +/g, " ");
}

/** Pages of a list, from the first to the last. */
function pagesOf(path: string, count: number): string[] {
  const query = path.includes("?") ? "&" : "?";
  return Array.from({ length: count }, (_, index) => `${path}${query}page=${index + 1}`);
}

function placesOf(server: HostilePlaces): readonly Place[] {
  const { files, comments, ticket, thread, reviews, pages } = server;
  const [review] = reviews;
  const names = TEXTS.map(fileNameOf);
  return [
    { what: "names of files", paths: [`${PROJECT}/tree/${files}/d`], texts: names },
    {
      what: "names and contents of files in a diff",
      paths: pagesOf(`${PROJECT}/checkin/${files}`, 6),
      texts: [...names, ...LINES],
    },
    { what: "a comment of a check-in", paths: [`${PROJECT}/checkin/${comments}`], texts: LINES },
    { what: "comments in the timeline", paths: pagesOf(`${PROJECT}/timeline`, 3), texts: [] },
    {
      what: "comments in everything",
      paths: pagesOf(`${PROJECT}/timeline?type=all`, 3),
      texts: [],
    },
    {
      what: "titles of tickets",
      paths: [...pagesOf(`${PROJECT}/tickets?state=all`, 3), `${PROJECT}/tickets?view=board`],
      texts: [],
    },
    { what: "comments of a ticket", paths: [`${PROJECT}/tickets/${ticket}`], texts: [] },
    { what: "posts of the forum", paths: pagesOf(`${PROJECT}/forum/${thread}`, 3), texts: [] },
    { what: "comments of a review", paths: pagesOf(`${PROJECT}/reviews/${review}`, 2), texts: [] },
    {
      what: "a diff of a review",
      paths: [`${PROJECT}/reviews/${review}?view=changes`],
      texts: LINES,
    },
    {
      what: "titles of wiki pages",
      paths: pagesOf(`${PROJECT}/wiki`, 2),
      texts: pages.map(shownTitle),
    },
    { what: "releases", paths: pagesOf(`${PROJECT}/releases`, 3), texts: [] },
    {
      what: "names of what an admin makes",
      paths: [...pagesOf("/settings/tokens", 3), "/settings/bans", "/projects", "/events", "/"],
      texts: [],
    },
    { what: "messages", paths: ["/channels/general", "/channels", "/agents/caller"], texts: [] },
    { what: "private messages", paths: ["/messages/caller"], texts: [] },
  ];
}

/** Acknowledges everything in an agent's inbox: a full one takes no more. */
async function emptyInbox(program: Program, nick: string): Promise<void> {
  const path = `/v1/agents/${nick}/messages`;
  const messages: { id: string }[] = await (await call(program, "GET", path)).json();
  const ids = messages.map(({ id }) => id);
  if (ids.length > 0) await call(program, "POST", `${path}/acknowledge`, { ids });
}

Deno.test({
  name: "hostile texts in names, messages, files, comments, tickets, wiki and diffs do nothing",
  ...peer("chromium"),
  fn: async () => {
    await using program = await startProgram();
    const server = await fillHostile(program);
    const admin = await addAdmin(program, "root");
    // Messages have no control characters but those of IRC.
    for (const text of TEXTS.filter((one) => !/(?![\n\t])\p{Cc}/u.test(one))) {
      await sendForm(program, admin, "/messages/caller", { action: "say", text });
      await emptyInbox(program, "caller");
    }
    await using browser = await TestBrowser.open({ base: program.pages });
    await using tab = await browser.tab(admin);
    const faults: string[] = [];
    for (const { what, paths, texts } of placesOf(server)) {
      let missing = texts;
      for (const path of paths) {
        faults.push(...await findHostile(tab, path));
        missing = await missingTexts(tab.page, missing);
      }
      faults.push(...missing.map((text) => `${what} do not show ${JSON.stringify(text)}`));
    }
    const wiki = server.pages.map((title) => `${PROJECT}/wiki/${encodeURIComponent(title)}`);
    faults.push(...await findHostileIn(tab, wiki));
    assert.deepEqual(faults, []);
  },
});
