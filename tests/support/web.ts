/** The web pages beside the API, with visitors who keep their cookies. */
import assert from "node:assert/strict";
import { BY_OPERATOR, type TestServicesOptions } from "./services.ts";
import { blocksInTexts } from "./html_nesting.ts";
import type { TestApi } from "./scenarios.ts";
import { commitFiles, type TestProject, withProject } from "./projects.ts";

/** What the server answered. */
export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  /** The body as it was sent. */
  readonly html: string;
  /** The text of the body, as a person reads it: without markup, spaces folded. */
  readonly text: string;
  /** Where it leads, from `Location`; "" if it leads nowhere. */
  readonly to: string;
}

/** What a request may add. */
export interface VisitOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Leads to the page that the answer names are followed by default. */
  readonly follow?: boolean;
}

/** Fields of a form; a list sends its name once for each value. */
export type Fields = Readonly<Record<string, string | readonly string[]>>;

/** A browser without a screen: it keeps cookies, and follows where answers lead. */
export class Visitor {
  readonly #api: TestApi;
  readonly #cookies = new Map<string, string>();

  constructor(api: TestApi, cookies: Readonly<Record<string, string>> = {}) {
    this.#api = api;
    for (const [name, value] of Object.entries(cookies)) this.#cookies.set(name, value);
  }

  /** The value of a cookie; "" if there is none. */
  cookie(name: string): string {
    return this.#cookies.get(name) ?? "";
  }

  /** Loads a page. */
  async get(path: string, options: VisitOptions = {}): Promise<Answered> {
    return await this.#send(new Request(this.#url(path)), options);
  }

  /** Loads a page that must be shown. */
  async see(path: string): Promise<Answered> {
    const answered = await this.get(path);
    assert.equal(answered.status, 200, `${path}: ${answered.status} ${answered.text}`);
    return answered;
  }

  /**
   * Sends a form with the CSRF token of the session, unless the fields hold another.
   *
   * @param fields with `action`, the name of the form's action
   */
  async post(path: string, fields: Fields, options: VisitOptions = {}): Promise<Answered> {
    const form = new URLSearchParams({ csrf: this.cookie("muster_csrf") });
    for (const [name, value] of Object.entries(fields)) {
      form.delete(name);
      for (const one of typeof value === "string" ? [value] : value) form.append(name, one);
    }
    return await this.#send(new Request(this.#url(path), { method: "POST", body: form }), options);
  }

  #url(path: string): string {
    return new URL(path, "http://muster.test").href;
  }

  async #send(request: Request, options: VisitOptions): Promise<Answered> {
    const { headers = {}, follow = true } = options;
    request.headers.set("accept", "text/html,application/xhtml+xml,*/*;q=0.8");
    request.headers.set("sec-fetch-site", "same-origin");
    request.headers.set("cookie", [...this.#cookies].map((pair) => pair.join("=")).join("; "));
    for (const [name, value] of Object.entries(headers)) request.headers.set(name, value);
    const response = await this.#api.handle(request);
    for (const line of response.headers.getSetCookie()) this.#keep(line);
    const to = response.headers.get("location") ?? "";
    const html = await response.text();
    if (response.headers.get("content-type")?.startsWith("text/html")) {
      assert.deepEqual(blocksInTexts(html), [], request.url);
    }
    if (to !== "" && follow) {
      return await this.get(new URL(to, request.url).href.replace("http://muster.test", ""));
    }
    return { status: response.status, headers: response.headers, html, text: textOf(html), to };
  }

  #keep(line: string): void {
    const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    if (value === "" || /;\s*max-age=0/i.test(line)) this.#cookies.delete(name);
    else this.#cookies.set(name, value);
  }
}

/** A project, `demo`, and those who look at it in browsers. */
export interface TestWeb extends TestProject {
  /** An admin, who is logged in. */
  readonly admin: Visitor;
  /** `ann`, a person who is logged in and no member of the project. */
  readonly person: Visitor;
  readonly guest: Visitor;
  /** Logs an account in, without its password. */
  logIn(name: string): Promise<Visitor>;
  /** Creates a person, whose password is `correct horse`, and logs them in. */
  addPerson(name: string): Promise<Visitor>;
}

/** Runs a test on the pages and a new private project, `demo`, whose repository is empty. */
export async function withWeb(
  run: (web: TestWeb) => Promise<void>,
  options?: TestServicesOptions,
): Promise<void> {
  await withProject(async (test) => {
    const { api } = test;
    api.mountPages();
    const logIn = async (name: string) => {
      const { accounts, webSessions } = api.services;
      const account = accounts.find(name);
      assert.ok(account !== null, `There is no account ${name}`);
      const session = await webSessions.open(account, { address: "127.0.0.1", requestId: "login" });
      return new Visitor(api, { muster_session: session.secret, muster_csrf: session.csrfToken });
    };
    const addPerson = async (account: string) => {
      await api.services.ircAccounts.create({ account, password: "correct horse" }, BY_OPERATOR);
      return await logIn(account);
    };
    const admin = await logIn("admin");
    const person = await addPerson("ann");
    await run({ ...test, admin, person, guest: new Visitor(api), logIn, addPerson });
  }, options);
}

/** What {@link fillProject} put into the project. */
export interface Content {
  /** The tip of trunk. */
  readonly tip: string;
  /** A ticket. */
  readonly ticket: string;
}

/**
 * Fills the project: a README and sources on trunk, the tag `v1.0`, a workspace `fix-typo` with a
 * change of `src/main.ts` and `docs/guide.md`, a ticket, a wiki page `Home` and a release.
 */
export async function fillProject(
  test: Pick<TestProject, "api" | "project" | "answer" | "caller">,
): Promise<Content> {
  await commitFiles(test, {
    "README.md": "# Demo\n\nA project for tests. See the [guide](docs/guide.md).\n",
    "docs/guide.md": "# Guide\n\nStart here.\n",
    "src/main.ts": 'export function main(): void {\n  console.log("hello");\n}\n',
    "src/logo.png": Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0),
  });
  const tip = await commitFiles(test, { "src/util.ts": "export const ONE = 1;\n" });
  const { answer, caller } = test;
  const release = { tag_name: "v1.0", name: "Version 1.0", body: "The *first* one", checkin: tip };
  await answer("POST /api/releases", { body: release });
  await answer("POST /api/workspaces/create", { as: caller, body: { name: "fix-typo" } });
  await answer("POST /api/workspaces/fix-typo/commit", {
    as: caller,
    body: {
      message: "Fix a typo",
      changes: [
        {
          path: "src/main.ts",
          content: 'export function main(): void {\n  console.log("hi");\n}\n',
        },
        { path: "docs/guide.md", content: "# Guide\n\nStart here, please.\n" },
      ],
    },
  });
  const { uuid: ticket } = await answer("POST /api/tickets", {
    as: caller,
    body: { title: "The first ticket", comment: "It does **not** work" },
  });
  const page = { content: "Welcome to the *demo*\n", mimetype: "text/x-markdown" };
  await answer("PUT /api/wiki/Home", { as: caller, body: page });
  return { tip, ticket };
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  nbsp: " ",
};

function textOf(html: string): string {
  return html.replace(/<(script|style|template)\b.*?<\/\1>/gs, "")
    .replace(
      /<span class=turning>U\+([0-9A-F]{4})<\/span>/g,
      (_, hex) => String.fromCharCode(parseInt(hex, 16)),
    )
    // The marks of syntax and of changed words are inside of words.
    .replace(/<td class="code[^"]*">.*?<\/td>/gs, (cell) => ` ${cell.replace(/<[^>]*>/g, "")} `)
    .replace(/<[^>]*>/g, " ")
    .replace(/&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi, (whole, hex, decimal, name) => {
      if (hex !== undefined) return String.fromCodePoint(parseInt(hex, 16));
      if (decimal !== undefined) return String.fromCodePoint(Number(decimal));
      return ENTITIES[name] ?? whole;
    })
    .replace(/\s+/g, " ").trim();
}
