import assert from "node:assert/strict";
import { order, registerAgent } from "../support/api.ts";
import { TestBrowser } from "../support/browser.ts";
import { IrcClient } from "../support/irc_client.ts";
import { peer } from "../support/peers.ts";
import { type Program, runMuster, startProgram } from "../support/program.ts";

/** Texts of the messages on the page, in order, as `nick: text`. */
const MESSAGES = `[...document.querySelectorAll(".messages > .message")].map((message) =>
  message.dataset.nick + ": " + message.querySelector(".text").textContent)`;

/** A browser in which `ann` looks at `#general`, and `bob` with an IRC client there. */
interface Chat {
  readonly program: Program;
  readonly browser: TestBrowser;
  readonly bob: IrcClient;
  /** The messages on the page. */
  messages(): Promise<string[]>;
  /** Waits until an expression is true on the page. */
  until(expression: string): Promise<void>;
}

async function withChat(
  run: (chat: Chat) => Promise<void>,
  environment: Readonly<Record<string, string>> = {},
): Promise<void> {
  await using program = await startProgram({
    environment: Object.assign({ MUSTER_IRC_LIMITS_FLOOD_LINES_PER_SECOND: "0" }, environment),
  });
  const { folder } = program;
  const { stdout } = await runMuster(["account", "add", "ann"], { folder });
  const [password = ""] = /\b[0-9a-f]{40}\b/.exec(stdout) ?? [];
  await using bob = await IrcClient.connect(program.irc);
  await bob.register({ nick: "bob" });
  await bob.send("JOIN #general");
  await bob.expect(/ 366 /);
  await using browser = await TestBrowser.open({ base: program.pages });
  await browser.logIn("ann", password);
  await browser.go("/channels/general");
  const { page } = browser;
  await run({
    program,
    browser,
    bob,
    messages: async () => await page.evaluate(MESSAGES) as string[],
    until: async (expression) => void await page.waitForFunction(expression),
  });
}

/** An expression: the page has so many messages. */
function hasMessages(count: number): string {
  return `document.querySelectorAll(".messages > .message").length === ${count}`;
}

Deno.test({
  name: "a person in a browser and an IRC client talk, with the keyboard alone",
  ...peer("chromium"),
  fn: () =>
    withChat(async ({ browser, bob, messages, until }) => {
      const { page } = browser;
      await page.keyboard.type("hello bo");
      await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      assert.match(await bob.expect(/PRIVMSG/), /^:ann!\S+ PRIVMSG #general :hello bob$/);
      await bob.send("PRIVMSG #general :hello ann");
      await until(hasMessages(2));
      // Who speaks in a channel is in it.
      await until("document.querySelector('[data-membership=in]')?.textContent.includes('Leave')");
      await until("document.querySelector('#own-channels + ul [data-place=\\'#general\\']')");
      assert.deepEqual(await messages(), ["ann: hello bob", "bob: hello ann"]);
      // In a field with text, Tab completes words.
      await until("document.querySelector('#say').value === ''");
      // Back from the field: the link that answers the newest message.
      await page.keyboard.down("Shift");
      await page.keyboard.press("Tab");
      await page.keyboard.up("Shift");
      assert.equal(
        await page.evaluate("document.activeElement.getAttribute('aria-label')"),
        "Reply to bob",
      );
      await page.keyboard.press("Enter");
      await page.keyboard.type("one");
      await page.keyboard.down("Shift");
      await page.keyboard.press("Enter");
      await page.keyboard.up("Shift");
      await page.keyboard.type("two");
      await page.keyboard.press("Enter");
      await until(hasMessages(4));
      assert.deepEqual((await messages()).slice(2), ["ann: one", "ann: two"]);
      const quoted = await page.evaluate("document.querySelector('.quoted').textContent.trim()");
      assert.equal(quoted, "bob: hello ann");
      await until("document.activeElement.id === 'say' && document.activeElement.value === ''");
      assert.deepEqual(browser.complaints, []);
    }),
});

Deno.test({
  name: "a message that comes while the page is open looks as it does later",
  ...peer("chromium"),
  fn: () =>
    withChat(async ({ program, browser, bob, until }) => {
      const { page } = browser;
      await registerAgent(program, "scout", { channels: ["general"] });
      const say = (
        post: { readonly nick: string; readonly text: string; readonly reply?: string },
      ) => order(program, "POST /v1/channels/general/messages", post);
      const texts = [
        "plain <b>text</b> & more",
        "ann: \x02bold\x02, `code` and https://example.test/a?b=c",
        "A long report. ".repeat(60),
        JSON.stringify({
          v: 1,
          type: "task.create",
          id: "01J0000000000000000000000A",
          from: "scout",
          to: ["bob"],
          payload: { title: "<i>Skip</i>" },
        }),
      ];
      for (const text of texts) await say({ nick: "scout", text });
      await bob.send("PRIVMSG #general :\x01ACTION waves\x01");
      await until(hasMessages(5));
      const first = await page.evaluate("document.querySelector('.message').id.slice(2)") as string;
      await say({ nick: "bob", text: "an answer", reply: first });
      await until(hasMessages(6));
      // The focus and the marker of what is unread are the reader's.
      const drawn = `document.querySelectorAll(".messages > .message").values()
        .map(({ outerHTML }) => outerHTML).toArray()`;
      const live = await page.evaluate(drawn);
      await browser.go("/channels/general");
      assert.deepEqual(live, await page.evaluate(drawn));
      assert.deepEqual(browser.complaints, []);
    }),
});

Deno.test({
  name: "a long list of who is here can be filtered",
  ...peer("chromium"),
  fn: () =>
    withChat(async ({ program, browser, until }) => {
      const { page } = browser;
      const field = "document.querySelector('[data-here-filter]')";
      const shown = `[...document.querySelectorAll("[data-here] > li:not([hidden])")]
        .map(({ dataset }) => dataset.nick).join()`;
      await browser.look({ width: "desk", theme: "light" });
      await browser.go("/channels/general");
      await until(`${shown}.split(",").length === 2`);
      assert.equal(await page.evaluate(`${field}.hidden`), true);
      await using guests = new AsyncDisposableStack();
      const join = async (nick: string) => {
        const guest = guests.use(await IrcClient.connect(program.irc));
        await guest.register({ nick });
        await guest.send("JOIN #general");
      };
      for (let number = 10; number < 20; number++) await join(`Guest${number}`);
      await until(`!${field}.hidden`);
      await page.type("[data-here-filter]", "gUEST1");
      await until(`${shown}.split(",").length === 10`);
      await page.type("[data-here-filter]", "7");
      await until(`${shown} === "Guest17"`);
      await join("Guest17b");
      await join("carl");
      await until(`${shown} === "Guest17,Guest17b"`);
      assert.deepEqual(browser.complaints, []);
    }),
});

Deno.test({
  name: "a page loses and doubles nothing when the program is killed and comes back",
  ...peer("chromium"),
  async fn() {
    await withChat(async ({ program, browser, bob, messages, until }) => {
      await bob.send("PRIVMSG #general :one", "PRIVMSG #general :two");
      await until(hasMessages(2));
      const { folder, api, irc } = program;
      await program.stop("SIGTERM");
      await until("!document.querySelector('.chat-state').hidden");
      assert.match(
        await browser.page.evaluate("document.querySelector('.chat-state').textContent") as string,
        /Reconnecting/,
      );
      await using again = await startProgram({
        folder,
        environment: {
          MUSTER_API_ADDR: new URL(api).host,
          MUSTER_IRC_LISTEN: `${irc.hostname}:${irc.port}`,
        },
      });
      await using carl = await IrcClient.connect(again.irc);
      await carl.register({ nick: "carl" });
      await carl.send("JOIN #general");
      await carl.expect(/ 366 /);
      for (let number = 1; number <= 20; number++) {
        await carl.send(`PRIVMSG #general :line ${number}`);
      }
      await until(hasMessages(22));
      const lines = Array.from({ length: 20 }, (_, index) => `carl: line ${index + 1}`);
      assert.deepEqual(await messages(), ["bob: one", "bob: two", ...lines]);
      await until("document.querySelector('.chat-state').hidden");
    });
  },
});

Deno.test({
  name: "a page keeps its place and its size while a thousand messages come",
  ...peer("chromium"),
  fn: () =>
    withChat(async ({ browser, bob, messages, until }) => {
      const { page } = browser;
      const say = async (from: number, to: number) => {
        const numbers = Array.from({ length: to - from + 1 }, (_, index) => from + index);
        await bob.send(...numbers.map((number) => `PRIVMSG #general :line ${number}`));
        await until(`[...document.querySelectorAll(".text")].at(-1)?.textContent === "line ${to}"`);
      };
      await say(1, 200);
      const place = "Math.round(document.querySelector('.chat-log').scrollTop)";
      assert.equal(await page.evaluate(place), 0, "the page follows what comes");
      await page.evaluate("document.querySelector('.chat-log').scrollTop = -300");
      const top = `[...document.querySelectorAll(".message")].find((message) =>
        message.getBoundingClientRect().top >= document.querySelector(".chat-log")
          .getBoundingClientRect().top).textContent`;
      const before = await page.evaluate(top);
      await say(201, 240);
      assert.equal(await page.evaluate(top), before, "the reader stays where they read");
      await page.evaluate("document.querySelector('.chat-log').scrollTop = 0");
      await say(241, 1000);
      const shown = await messages();
      assert.ok(shown.length <= 500, `${shown.length} messages are on the page`);
      const firstOf = (lines: readonly string[]) => Number(/line (\d+)/.exec(lines[0] ?? "")?.[1]);
      const assertWhole = (lines: readonly string[]) =>
        assert.deepEqual(lines, lines.map((_, index) => `bob: line ${firstOf(lines) + index}`));
      // What left the page comes back when the reader scrolls up, and down again.
      await page.evaluate("document.querySelector('.chat-log').scrollTop = -1e6");
      await until(`document.querySelector(".text").textContent !== "line ${firstOf(shown)}"`);
      const earlier = await messages();
      assert.ok(earlier.length <= 500, `${earlier.length} messages are on the page`);
      assertWhole(earlier);
      await bob.send("PRIVMSG #general :line 1001");
      await until(`(document.querySelector(".chat-log").scrollTop = 0,
        [...document.querySelectorAll(".text")].at(-1).textContent === "line 1001")`);
      assertWhole(await messages());
      assert.equal(await page.evaluate("document.querySelector('.to-newest').hidden"), true);
      // Nobody has to scroll to learn who speaks.
      const run = `[...document.querySelectorAll(".message")].reduce(([most, run], { classList }) =>
        classList.contains("same") ? [Math.max(most, run + 1), run + 1] : [most, 0], [0, 0])[0]`;
      const below = Number(await page.evaluate(run));
      assert.ok(below > 5 && below < 10, `${below} messages stand below one name`);
      await browser.go("/channels/general?q=line");
      const inSight = `(() => { const { top, bottom } = document.querySelector("a.older")
        .getBoundingClientRect(); return top > 0 && bottom < innerHeight })()`;
      assert.ok(await page.evaluate(inSight), "the way to older finds is in sight");
      await browser.leave(() => page.click(".message:nth-last-child(20) .at"));
      // A message that a link leads to stands between others.
      await until(`(() => {
        const log = document.querySelector(".chat-log").getBoundingClientRect();
        const { top, bottom } = document.querySelector(".message.shown").getBoundingClientRect();
        return top > log.top + 0.2 * log.height && bottom < log.bottom - 0.2 * log.height;
      })()`);
    }),
});

Deno.test({
  name: "hostile messages look the same when they come and when they are read again",
  ...peer("chromium"),
  fn: () =>
    withChat(async ({ browser, bob, messages, until }) => {
      const hostile = [
        "<script>document.title = 'owned'</script>",
        "<img src=x onerror=\"document.title='owned'\">",
        "</li></ol></div></main><h1>owned</h1>",
        '"><svg onload=alert(1)>',
        'javascript:alert(1) https://example.com/"onmouseover=alert(1)',
        `${"W".repeat(300)}`,
        `https://example.com/${"long".repeat(60)}`,
        "Z\u0351\u0352\u0353\u0354\u0355".repeat(40),
        "\u202eright to left\u202c \u2066isolated",
        "{{7*7}} ${7*7} <%= 7*7 %>",
        JSON.stringify({
          v: 1,
          type: "<b>t</b>",
          id: "<i>",
          from: "bob",
          payload: { title: "<u>" },
        }),
        "```",
        "<style>*{display:none}</style>",
        "```",
        "\x02\x1d\x1f\x1e\x11styles\x0f \x0304,01colors",
      ];
      await bob.send("TOPIC #general :<img src=x onerror=alert(1)>");
      for (const text of hostile) await bob.send(`PRIVMSG #general :${text}`);
      await until(hasMessages(hostile.length));
      const live = await messages();
      await bob.send("PRIVMSG #general :ann: look at this");
      await until(hasMessages(hostile.length + 1));
      assert.ok(await browser.overflow() <= 0, "The page is wider than the window");
      await browser.go("/channels/general");
      assert.deepEqual((await messages()).slice(0, -1), live);
      assert.equal(await browser.page.title(), "#general · muster");
      assert.deepEqual(browser.complaints, []);
    }),
});

Deno.test({
  name: "a page that comes back too late to get all that it missed is loaded again",
  ...peer("chromium"),
  fn: () =>
    withChat(async ({ browser, bob, messages, until }) => {
      const { page } = browser;
      const say = async (first: number, last: number) => {
        for (let index = first; index <= last; index++) {
          await bob.send(`PRIVMSG #general :message ${index}`);
        }
        await bob.send(`PING said-${last}`);
        await bob.expect(new RegExp(` PONG .*said-${last}$`));
      };
      const shows = (text: string) =>
        `document.querySelector(".messages")?.textContent.includes(${JSON.stringify(text)})`;
      await say(1, 3);
      await until(shows("message 3"));
      // In the background for a while, during which the server forgets.
      await page.evaluate('document.body.dataset.old = ""; dispatchEvent(new Event("pagehide"))');
      await say(4, 40);
      await page.evaluate('dispatchEvent(new Event("pageshow"))');
      await until(`document.body.dataset.old === undefined && ${shows("message 40")}`);
      const shown = await messages();
      assert.deepEqual(
        shown,
        Array.from({ length: shown.length }, (_, index) =>
          `bob: message ${41 + index - shown.length}`),
      );
      // One that missed nothing stays as it is.
      await page.evaluate('document.body.dataset.old = ""; dispatchEvent(new Event("pagehide"))');
      await say(41, 43);
      await page.evaluate('dispatchEvent(new Event("pageshow"))');
      await until(shows("message 43"));
      assert.equal(await page.evaluate("document.body.dataset.old"), "");
      assert.deepEqual(browser.complaints, []);
    }, {
      MUSTER_IRC_HISTORY_PERSIST: "false",
      MUSTER_IRC_HISTORY_MESSAGES: "10",
      MUSTER_BRIDGE_BUFFER_SIZE: "10",
    }),
});
