import assert from "node:assert/strict";
import { join } from "node:path";
import { TestBrowser } from "../support/browser.ts";
import { exportGit } from "../support/git_history.ts";
import { IrcClient } from "../support/irc_client.ts";
import { McpAgent } from "../support/mcp_agent.ts";
import { peer } from "../support/peers.ts";
import { Person } from "../support/person.ts";
import { type Program, runMuster, startProgram } from "../support/program.ts";

const GREET = `/** Greets somebody. */
export function greet(name: string): string {
  return "Hello " + name;
}
`;

const FIRST_ROUND = GREET.replace('"Hello " + name', "`Hello ${name}`");

const SECOND_ROUND = FIRST_ROUND.replace("Hello ${name}", "Hello, ${name}");

const PROJECT = { slug: "greeter" } as const;

/** Those who take part in the day, and what they use. */
interface Day {
  readonly program: Program;
  readonly browser: TestBrowser;
  readonly person: Person;
}

/** The agent of the day: on IRC, and with a client of MCP. */
interface Scout extends AsyncDisposable {
  readonly irc: IrcClient;
  readonly mcp: McpAgent;
}

async function logIn({ program, browser }: Day): Promise<void> {
  const { stdout } = await runMuster(["admin", "passwd", "admin"], { folder: program.folder });
  const [password = ""] = /\S{20,}/.exec(stdout) ?? [];
  await browser.logIn("admin", password);
}

/** Registers `scout`; returns the passphrase that the page shows. */
async function createAgent({ person, browser: { page } }: Day): Promise<string> {
  await person.sees("Nothing waits for you");
  await person.follow("Register one");
  await person.press("Register an agent");
  await person.fill("Nick", "scout", "dialog");
  await person.send("Register", "dialog form");
  await person.sees("The passphrase is shown only here");
  const passphrase = await person.text('pre[aria-label="the passphrase"]');
  assert.match(passphrase, /^[0-9a-f]{64}$/);
  await person.follow("Go to scout");
  assert.ok(!(await page.content()).includes(passphrase), "the passphrase is shown once");
  return passphrase;
}

async function seeItArrive({ person, program, browser }: Day, passphrase: string): Promise<Scout> {
  await person.sees("Last seen never", ".facts");
  await browser.page.waitForSelector("body[data-live-state=open]");
  const irc = await IrcClient.connect(program.irc);
  await person.seesLive("Last seen now", ".facts", async () => {
    await irc.register({ nick: "scout", password: passphrase });
    await irc.join("#general");
  });
  const mcp = await McpAgent.connect(program, { nick: "scout", passphrase });
  const dispose = async () => {
    await mcp[Symbol.asyncDispose]();
    await irc[Symbol.asyncDispose]();
  };
  return { irc, mcp, [Symbol.asyncDispose]: dispose };
}

async function talk({ person, browser: { page } }: Day, { irc }: Scout): Promise<void> {
  await person.follow("Channels", "nav");
  await person.follow("general");
  await person.sees("scout", ".here");
  await page.keyboard.type("sc");
  await page.keyboard.press("Tab");
  await page.keyboard.type("are you there?");
  await page.keyboard.press("Enter");
  await irc.expect(/^:admin!\S+ PRIVMSG #general :scout: are you there\?$/);
  await person.seesLive(
    "I am",
    ".message[data-nick=scout] .text",
    () => irc.send("PRIVMSG #general :I am. What is to do?"),
  );
}

async function createProject({ person, program: { folder } }: Day): Promise<void> {
  await person.follow("Projects", "nav");
  await person.follow("Make the first one");
  await person.fill("Short name", PROJECT.slug);
  await person.choose("With an import");
  await person.send("Create the project");
  await person.sees("Fill the empty repository");
  const stream = join(folder, "greeter.stream");
  const history = [
    { "README.md": "# Greeter\n\nSays hello to everybody.\n" },
    { "src/greet.ts": GREET },
  ];
  await Deno.writeFile(
    stream,
    await exportGit(history.map((files, index) => ({
      author: "ann",
      message: `Add ${Object.keys(files)}`,
      time: Date.UTC(2026, 0, 1 + index),
      files,
    }))),
  );
  await person.attach(stream);
  await person.send("Import the file");
  assert.equal(person.place, "/projects/greeter");
}

async function readCode({ person }: Day): Promise<void> {
  await person.sees("Says hello to everybody", ".readme");
  await person.follow("src", ".listing");
  await person.follow("greet.ts", ".listing");
  await person.sees('return "Hello " + name;', ".code-lines");
  await person.follow("Blame");
  await person.sees("ann", ".origin");
}

async function addMember({ person }: Day): Promise<void> {
  await person.follow("greeter", ".project-name");
  await person.follow("Add one to the members");
  await person.fill("Name of an agent", "scout");
  await person.send("Add");
  await person.sees("scout is a member now", "[role=status]");
}

/** Writes a ticket, which the agent finds and claims; returns its id. */
async function writeTicket({ person }: Day, { mcp }: Scout): Promise<string> {
  await person.follow("Tickets", ".project-bar");
  await person.follow("File the first one");
  await person.fill("Title", "Use a template string");
  await person.fill("Description", "`greet` joins its strings by hand.");
  await person.send("File the ticket");
  await person.sees("The ticket is filed", "[role=status]");
  const { tickets } = await mcp.call("list_tickets", { ...PROJECT, unclaimed: true });
  const [{ uuid = "" } = {}] = tickets as { uuid: string }[];
  const claim = () => mcp.call("claim_ticket", { ...PROJECT, uuid });
  await person.seesLive("held by scout", ".ticket-head", claim);
  await person.sees("scout holds this ticket");
  return uuid;
}

async function commit({ mcp }: Scout, message: string, content: string): Promise<void> {
  await mcp.call("commit_files", {
    ...PROJECT,
    workspace: "template",
    message,
    changes: [{ path: "src/greet.ts", content }],
  });
}

async function submit({ person }: Day, scout: Scout, uuid: string): Promise<void> {
  await person.seesLive("Review #1", "[data-live-part=links]", async () => {
    await scout.mcp.call("create_workspace", { ...PROJECT, name: "template", ticket: uuid });
    await commit(scout, "Use a template string", FIRST_ROUND);
    const summary = "`greet` uses a template string now.";
    await scout.mcp.call("submit_work", { ...PROJECT, uuid, summary, workspace: "template" });
  });
  await person.sees("Review", ".ticket-head .badge");
  await person.follow("Home", "nav");
  await person.sees("scout asks anybody, 1 file", ".waiting-entry");
}

async function review({ person, browser: { page } }: Day, scout: Scout): Promise<void> {
  await person.follow("Review", ".waiting-action");
  await person.follow("Changes", ".segments");
  await person.followNamed("Line 3, new");
  await person.fill("Comment on line 3", "Please add a comma.");
  await person.send("Comment", ".line-comments");
  await person.sees("Please add a comma.", ".line-comments");
  await person.follow("Give a verdict");
  await person.fill("Comment", "Nearly there.");
  await person.send("Request changes");
  await person.sees("scout must answer the changes that admin requested", ".notice");
  const answer = async () => {
    const { comments } = await scout.mcp.call("get_review", { ...PROJECT, id: 1, diff: "none" });
    const [said] = comments as { body: string; file_path: string; line_number: number }[];
    assert.deepEqual(
      [said?.body, said?.file_path, said?.line_number],
      ["Please add a comma.", "src/greet.ts", 3],
    );
    await commit(scout, "Add a comma", SECOND_ROUND);
    await scout.mcp.call("comment_review", { ...PROJECT, id: 1, body: "There it is." });
  };
  await person.seesLive("Changes since round 1", ".notice", answer);
  await person.sees("There it is.", "[data-live-part=comments]");
  await person.follow("Changes since round 1", ".notice");
  await person.sees("Hello, ${name}", "tr.added");
  assert.match(await page.title(), /^Use a template string/);
}

async function land({ person }: Day): Promise<void> {
  await person.follow("Give a verdict");
  await person.send("Approve");
  await person.sees("The review is approved", "[role=status]");
  await person.send("Land");
  await person.sees("merged as", ".ticket-head");
  await person.follow("Code", ".project-bar");
  await person.sees("Land review 1: Use a template string", ".newest");
}

async function readChannel({ person }: Day): Promise<void> {
  await person.follow("#project-greeter");
  for (
    const said of [
      "admin filed ticket",
      "scout claimed ticket",
      "scout opened review 1",
      "of scout landed on",
    ]
  ) await person.sees(said, ".messages .text");
}

async function pause({ person }: Day, { irc }: Scout): Promise<void> {
  await person.follow("Agents", "nav");
  await person.follow("scout", "table");
  await person.fill("Reason for a pause", "the day is over");
  await person.send("Pause", "form[aria-label=Pause]");
  await person.sees("scout is paused: its messages are refused", "[role=status]");
  await irc.send("PRIVMSG #general :one more thing", "PING :after");
  await irc.expect(/the day is over/);
  await irc.expect(/PONG .*after/);
  await person.follow("Channels", "nav");
  await person.follow("general");
  await person.sees("What is to do?", ".messages");
  assert.doesNotMatch(await person.text(".messages"), /one more thing/);
}

Deno.test({
  name: "a person's first day: from the login to landed work, by what the pages offer",
  ignore: peer("chromium").ignore || peer("git").ignore,
  async fn(t) {
    await using program = await startProgram();
    await using browser = await TestBrowser.open({ base: program.pages });
    await browser.look({ width: "desk", theme: "light" });
    const day: Day = { program, browser, person: new Person(browser) };
    const step = async <Result>(name: string, run: () => Promise<Result>): Promise<Result> => {
      const results: Result[] = [];
      const fn = async () => void results.push(await run());
      // What a step opens stays open: the next ones need it, and everything before them.
      const isDone = await t.step({ name, fn, sanitizeOps: false, sanitizeResources: false });
      assert.ok(isDone, name);
      assert.deepEqual(await browser.violations(), [], name);
      return results[0] as Result;
    };
    await step("the person logs in", () => logIn(day));
    const passphrase = await step("creates an agent", () => createAgent(day));
    await using scout = await step("sees it arrive", () => seeItArrive(day, passphrase));
    await step("talks with it, both ways", () => talk(day, scout));
    await step("makes a project of a Git repository", () => createProject(day));
    await step("reads code", () => readCode(day));
    await step("lets the agent work there", () => addMember(day));
    const ticket = await step("writes a ticket and sees it claimed", () => writeTicket(day, scout));
    await step("sees the work handed in", () => submit(day, scout, ticket));
    await step("reviews two rounds, line by line", () => review(day, scout));
    await step("approves and lands", () => land(day));
    await step("reads what was said about it", () => readChannel(day));
    await step("pauses the agent", () => pause(day, scout));
    assert.deepEqual(browser.complaints, []);
  },
});
