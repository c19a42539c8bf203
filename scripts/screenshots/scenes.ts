/** What happens in the story, in order. */
import type { Person } from "../../tests/support/person.ts";
import {
  ANY_PORT,
  FIRST_ROUND,
  PARALLEL_READ,
  PATHS,
  SECOND_ROUND,
  SHORT_README,
  SORTED_READ,
} from "./repository.ts";
import type { Story } from "./story.ts";

/** Tickets, by the names under which the story knows them. */
const TICKETS = {
  lost: {
    title: "Departures of two harbours at the same minute are lost",
    body: "`merge()` compares departures by their time alone.",
    severity: "Severe",
    priority: "High",
  },
  midnight: {
    title: "Departures after midnight come first",
    body: "The 00:15 belongs to the evening before it.",
    severity: "Important",
    priority: "Medium",
  },
  harbours: {
    title: "List the harbours of a line",
    body: "`GET /harbours?line=3`",
    type: "Feature_Request",
    severity: "Minor",
    priority: "Medium",
  },
  flaky: {
    title: "The test of the harbour API fails now and then",
    body: "It needs the network.",
    severity: "Important",
    priority: "Low",
  },
} as const;

/** What happens before the person comes: tickets, a landing, and one that came back. */
export async function prepare(story: Story): Promise<void> {
  await story.file("midnight", "scout", TICKETS.midnight);
  await story.file("harbours", "mapper", TICKETS.harbours);
  await story.file("flaky", "critic", TICKETS.flaky);
  for (const nick of ["builder", "mapper", "scout"] as const) await story.giveUp(nick, "flaky");
  await story.claim("mapper", "harbours");
  await story.commit("mapper", "parallel-read", "Read timetables in parallel", PARALLEL_READ);
  const tip = await story.commit("scout", "sorted-read", "Put long timetables last", SORTED_READ);
  const parallel = await story.propose("mapper", "parallel-read", "Read timetables in parallel");
  const sorted = await story.propose("scout", "sorted-read", "Put long timetables last");
  await story.land("critic", parallel);
  await story.land("critic", sorted);
  await story.report("critic", { checkin: tip, context: "lint", state: "failure" }, "2 warnings");
  await story.protect("tests");
  await story.commit("mapper", "readme", "Say how fast a change is live", SHORT_README);
  await story.queue(
    "critic",
    await story.propose("mapper", "readme", "Say how fast a change is live"),
  );
  await story.commit("mapper", "port", "Take the port from the environment", ANY_PORT);
  await story.propose("mapper", "port", "Take the port from the environment");
  await story.setTopic("scout", "Ferry 1.2 goes out on Friday");
}

/** A departure is lost: somebody notices, and an agent finds out why. */
export async function discover(story: Story, ann: Person): Promise<void> {
  await story.say("bob", "Morning! The new timetables of line 3 are in.");
  await story.say("mapper", "Parallel reads have landed: a start takes 0.3 s now, not 2.1 s.");
  await story.say("bob", "Good. But the 07:40 from Skarv is missing since yesterday.");
  await ann.sees("is missing since");
  await ann.say("scout: can you see why?");
  await ann.sees("can you see why?", ".messages");
  const reason =
    "Yes: `merge()` compares departures by their time alone. Holm has a 07:40 too, so " +
    "that of Skarv is dropped.";
  await ann.reads(
    "is dropped",
    () => story.answer("scout", /bob!\S+ PRIVMSG #general :Good/, reason),
  );
}

/** An agent mends it in two rounds of a review; returns the number of the review. */
export async function mend(story: Story): Promise<number> {
  await story.file("lost", "scout", TICKETS.lost);
  await story.sendTask("scout", "builder", TICKETS.lost.title);
  await story.say("builder", "Mine. I begin with a test that fails.");
  await story.claim("builder", "lost");
  await story.commit("builder", "same-minute", "Compare harbours too", FIRST_ROUND);
  const review = await story.submit("builder", {
    name: "lost",
    workspace: "same-minute",
    summary: "Two departures are the same if **harbour and time** are the same.",
    reviewers: ["ann"],
  });
  await story.requestChanges("critic", review, "`some` makes `merge()` quadratic. Use a map.");
  const message = "Look departures up in a map";
  const checkin = await story.commit("builder", "same-minute", message, SECOND_ROUND);
  await story.report("critic", { checkin, context: "tests", state: "success" }, "42 passed");
  await story.say(
    "builder",
    "Round 2 uses a map:",
    "```",
    "before  40000 departures  1040 ms",
    "after   40000 departures    11 ms",
    "```",
  );
  const line = lineOf("function keyOf");
  const place = { file_path: PATHS.timetable, line_number: line };
  const question = "Two lines can leave a harbour at the same minute. Does `line` belong here?";
  await story.comment("critic", review, question, place);
  const answer = "Every harbour in `timetables/` has one pier, so two ferries never do.";
  await story.comment("builder", review, answer, place);
  await story.say("critic", "42 tests pass on its tip. ann, it waits for your verdict.");
  await story.claim("scout", "midnight");
  await story.write("mapper", "ann", "May I raise the limit of departures to 500?");
  return review;
}

/** The number of the line of the mended file that holds a text, from 1. */
function lineOf(text: string): number {
  return SECOND_ROUND[PATHS.timetable].split("\n").findIndex((line) => line.includes(text)) + 1;
}
