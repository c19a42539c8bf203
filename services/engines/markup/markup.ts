import { Unavailable } from "../../kernel/errors.ts";
import { BoundedMap } from "../../kernel/bounded_map.ts";
import { TokenBucket } from "../../kernel/token_bucket.ts";
import {
  processorTime,
  startThread,
  WorkerPool,
  type WorkerPort,
} from "../../kernel/worker_pool.ts";
import { startProcess } from "../../kernel/process_port.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import { plainHtml } from "./plain.ts";
import type { Source } from "./render.ts";
import { createHash } from "node:crypto";

export interface MarkupOptions {
  readonly scheduler: Scheduler;
  /** How long one text may compute, in milliseconds. */
  readonly limitMs?: number;
  /** The processor time of the program so far, in milliseconds. */
  readonly computed?: () => number;
  /** Whether the worker is a process, and not a thread. */
  readonly startsProcesses?: boolean;
  /** Called with the reason when no worker can start: at most once a minute. */
  readonly onUnusable?: (reason: string) => void;
  /** Starts a worker that runs `markup_worker.ts`. */
  readonly startWorker?: () => WorkerPort;
}

const LIMIT_MS = 2_000;
/** An idle worker ends after this time, which frees its memory. */
const IDLE_MS = 60_000;
/** Longest rendered text, and longest HTML, in UTF-16 units. */
const MAX_TEXT = 1_048_576;
const MAX_HTML = 8_388_608;
/** Most texts that are rendered or wait, of all projects and of one. */
const MAX_TEXTS = 1000;
const MAX_TEXTS_OF_ONE = 200;
/** Longest code whose syntax is shown, in UTF-16 units. */
const MAX_CODE = 262_144;
/** Size of the cache, in UTF-16 units. */
const MAX_CACHED = 4_194_304;

/** Markups that the worker renders; all others are plain text. */
const RENDERED = new Set(["text/x-markdown", "text/markdown", "text/x-fossil-wiki", "text/html"]);

/** What one project may use of the worker, in milliseconds of its time. */
const WORKER_TIME = { perSecond: 1000 / 6, burst: 10_000 };
/** Projects whose use is remembered. */
const MAX_PROJECTS = 10_000;

/** The text is shown as plain text. */
class NotRendered extends Error {}

/** The worker did not answer, or broke. */
class WorkerLost extends NotRendered {}

/**
 * Renders Markdown and Fossil's wiki markup as HTML that is safe to show, in a worker that starts
 * on demand. A text that is too long, takes too long, or comes while too many wait or no thread can
 * start, is shown as plain text. So are the texts of a project that has used too much of the
 * worker's time.
 */
export class Markup {
  readonly #scheduler: Scheduler;
  readonly #limitMs: number;
  readonly #pool: WorkerPool<Source, string | null>;
  /** What each project has left of the worker's time. */
  readonly #time = new BoundedMap<string, TokenBucket>(MAX_PROJECTS);
  readonly #failures: Failures;
  /** The texts that wait or are being rendered, by key: each is rendered once. */
  readonly #asked = new Map<string, Promise<string | null>>();
  /** HTML by its source. */
  readonly #cache = new BoundedMap<string, string>({
    most: MAX_CACHED,
    mostOfOne: MAX_CACHED / 4,
    weigh: (html, key) => key.length + html.length,
  });

  constructor(options: MarkupOptions) {
    const { scheduler, limitMs = LIMIT_MS, computed = processorTime } = options;
    const { startsProcesses = false, onUnusable = () => {} } = options;
    const start = startsProcesses ? () => startMarkupProcess(limitMs) : startMarkupThread;
    const { startWorker = start } = options;
    this.#scheduler = scheduler;
    this.#limitMs = limitMs;
    this.#failures = new Failures(scheduler.now);
    const refusal = () => new NotRendered();
    this.#pool = new WorkerPool({
      start: startWorker,
      maxWaiting: MAX_TEXTS - 1,
      maxWaitingPerKey: MAX_TEXTS_OF_ONE - 1,
      idleMs: IDLE_MS,
      // The project that has used the worker least is next.
      costOf: (project) => this.#time.peek(project)?.delay(scheduler.now(), WORKER_TIME.burst) ?? 0,
      onRan: (project, ms) => this.#charge(project, ms),
      full: refusal,
      closed: refusal,
      unusable: refusal,
      onUnusable,
      lost: () => new WorkerLost(),
      mayRepeat: () => true,
      computed,
      now: scheduler.now,
      after: (ms, task) => scheduler.after(ms, task),
    });
  }

  /** The HTML of a text. Never fails. */
  async render(source: Source): Promise<string> {
    const { text, mimetype } = source;
    if (text.trim() === "") return "";
    if (!RENDERED.has(mimetype) || text.length > MAX_TEXT) return plainHtml(text);
    return await this.#htmlOf(source) ?? plainHtml(text);
  }

  /** The HTML from the cache or the worker; null after a failure. */
  async #htmlOf(source: Source): Promise<string | null> {
    const { text, mimetype, language, links } = source;
    const key = JSON.stringify([mimetype, language, links]) + text;
    const known = this.#cache.get(key);
    if (known !== undefined) return known;
    let asked = this.#asked.get(key);
    if (asked === undefined) {
      asked = this.#ask(key, source).finally(() => this.#asked.delete(key));
      this.#asked.set(key, asked);
    }
    return await asked;
  }

  /**
   * The lines of code as HTML that shows their syntax, joined by line feeds. Null if they must be
   * shown as plain text: the name of the file tells no language, the code is too long, or see
   * {@link render}.
   *
   * @param project the prefix of the project's pages
   */
  async highlight(project: string, path: string, code: string): Promise<string | null> {
    const language = languageOf(path);
    if (language === null || code.length > MAX_CODE) return null;
    const links = { base: project, known: {} };
    return await this.#htmlOf({ text: code, mimetype: "text/plain", language, links });
  }

  /** The texts that the worker renders, and that wait for it. */
  get load(): { readonly running: number; readonly queued: number } {
    return this.#pool.load;
  }

  /** Ends the worker; texts are shown as plain text from now on. */
  close(): void {
    this.#pool.close();
  }

  /** Null if the text must be shown as plain text. */
  async #ask(key: string, source: Source): Promise<string | null> {
    const project = source.links.base;
    if (this.#failures.has(key) || this.#isOverdrawn(project)) return null;
    const html = await this.#render(key, source);
    if (html === null) return null;
    if (html.length > MAX_HTML) {
      this.#failures.add(key);
      return null;
    }
    this.#cache.set(key, html);
    return html;
  }

  async #render(key: string, source: Source): Promise<string | null> {
    try {
      return await this.#pool.call(source, { key: source.links.base, limitMs: this.#limitMs });
    } catch (error) {
      if (error instanceof WorkerLost) this.#failures.add(key);
      if (error instanceof NotRendered || error instanceof Unavailable) return null;
      throw error;
    }
  }

  /** Counts the time of a project's text; gives up the others if that was too much. */
  #charge(project: string, ms: number): void {
    const now = this.#scheduler.now();
    this.#time.use(project, () => new TokenBucket(WORKER_TIME, now)).take(now, ms);
    if (this.#isOverdrawn(project)) this.#pool.refuse(project, new NotRendered());
  }

  /** Whether a project has used the worker so much that it must wait for a while. */
  #isOverdrawn(project: string): boolean {
    return (this.#time.peek(project)?.delay(this.#scheduler.now(), 1) ?? 0) > 0;
  }
}

const WORKER = new URL("./markup_worker.ts", import.meta.url);

/** Bytes of memory of the process. */
const PROCESS_BYTES = 512 * 1024 * 1024;

/** @throws Unavailable if no thread can start */
function startMarkupThread(): WorkerPort {
  return startThread(() => new Worker(WORKER, { type: "module", name: "markup" }));
}

/** @throws Unavailable if no process can start */
function startMarkupProcess(computeMs: number): WorkerPort {
  const memoryBytes = PROCESS_BYTES;
  return startProcess({ worker: WORKER, read: [], write: [], memoryBytes, computeMs });
}

/** How long a failure is remembered, in milliseconds: load may have caused it. */
const REMEMBERED_MS = 60_000;
/** Most remembered failures; each takes about 200 bytes. */
const MAX_REMEMBERED = 1000;

/** Texts that could not be rendered a moment ago, by their keys. */
class Failures {
  readonly #now: () => number;
  /** Unix milliseconds of each failure by the key's digest. */
  readonly #times = new BoundedMap<string, number>(MAX_REMEMBERED);

  constructor(now: () => number) {
    this.#now = now;
  }

  has(key: string): boolean {
    if (this.#times.size === 0) return false;
    const digest = digestOf(key);
    const time = this.#times.get(digest);
    if (time === undefined) return false;
    // A time in the future means that the clock was set back.
    if (time <= this.#now() && this.#now() < time + REMEMBERED_MS) return true;
    this.#times.delete(digest);
    return false;
  }

  add(key: string): void {
    this.#times.set(digestOf(key), this.#now());
  }
}

function digestOf(key: string): string {
  return createHash("sha256").update(key).digest("base64");
}

/** Languages of code by the endings of file names, as `highlight.js` calls them. */
const BY_ENDING: ReadonlyMap<string, string> = new Map([
  ...named("bash", "sh bash zsh ksh"),
  ...named("c", "c h"),
  ...named("cpp", "cc cpp cxx hpp hh hxx ino"),
  ...named("csharp", "cs"),
  ...named("css", "css"),
  ...named("diff", "diff patch"),
  ...named("go", "go"),
  ...named("graphql", "graphql gql"),
  ...named("ini", "ini toml cfg conf editorconfig gitconfig npmrc"),
  ...named("java", "java"),
  ...named("javascript", "js mjs cjs jsx"),
  ...named("json", "json jsonc json5 webmanifest map"),
  ...named("kotlin", "kt kts"),
  ...named("less", "less"),
  ...named("lua", "lua"),
  ...named("makefile", "mk mak"),
  ...named("markdown", "md markdown mkd"),
  ...named("objectivec", "m mm"),
  ...named("perl", "pl pm t"),
  ...named("php", "php phtml"),
  ...named("python", "py pyi pyw"),
  ...named("r", "r"),
  ...named("ruby", "rb rake gemspec"),
  ...named("rust", "rs"),
  ...named("scss", "scss"),
  ...named("sql", "sql"),
  ...named("swift", "swift"),
  ...named("typescript", "ts mts cts tsx"),
  ...named("vbnet", "vb"),
  ...named("wasm", "wat"),
  ...named("xml", "xml html htm xhtml svg xsl xsd plist rss atom ejs hbs vue"),
  ...named("yaml", "yml yaml"),
]);

/** Languages by whole names of files, in lower case. */
const BY_NAME: ReadonlyMap<string, string> = new Map([
  ...named("makefile", "makefile gnumakefile"),
  ...named("bash", ".bashrc .profile .zshrc configure"),
  ...named("ruby", "gemfile rakefile"),
  ...named("json", ".eslintrc .babelrc .prettierrc"),
  ...named("ini", ".gitconfig .npmrc .editorconfig"),
]);

function named(language: string, names: string): [string, string][] {
  return names.split(" ").map((name) => [name, language]);
}

/** The language of a file by its name; null if it is not known. */
export function languageOf(path: string): string | null {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  const ending = name.slice(name.lastIndexOf(".") + 1);
  return BY_NAME.get(name) ?? (name.includes(".") ? BY_ENDING.get(ending) : undefined) ?? null;
}
