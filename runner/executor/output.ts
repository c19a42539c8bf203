/** The output of a job as lines: of bounded length and number, without its secrets. */
import { Buffer } from "node:buffer";
import { type LogLine, MAX_LINE } from "../../services/work/runs/assignment.ts";

/** Where lines go. A promise makes the job wait, as a full pipe does. */
export type WriteLine = (line: LogLine) => Promise<void> | void;

/** What stands in the place of a secret. */
const MASK = "***";
/** A shorter secret is not masked: half of all words would be. */
export const SHORTEST_SECRET = 4;

/** After the end of a job, so long is waited for more of its output, in milliseconds. */
const DRAIN_MS = 2000;

/** Room for the words that say how much of a line was cut. */
const CUT_WORDS = 60;

export interface OutputOptions {
  /** Texts that no line may show. */
  readonly secrets: readonly string[];
  /** So much is written, in bytes; the rest is read and dropped. */
  readonly limitBytes: number;
  readonly write: WriteLine;
}

/** Everything that a job prints and that is said about it, in order. */
export class Output {
  readonly #mask: (text: string) => string;
  readonly #longestSecret: number;
  readonly #limitBytes: number;
  readonly #write: WriteLine;
  readonly #start = performance.now();
  #bytes = 0;

  constructor(options: OutputOptions) {
    const hidden = hiddenTexts(options.secrets);
    this.#mask = (text) => hidden.reduce((shown, one) => shown.replaceAll(one, MASK), text);
    this.#longestSecret = Math.max(0, ...hidden.map(({ length }) => length));
    this.#limitBytes = options.limitBytes;
    this.#write = options.write;
  }

  /** A text without the secrets. */
  masked(text: string): string {
    return this.#mask(text);
  }

  /** Says something about the job in the runner's own words. */
  async note(text: string): Promise<void> {
    for (const line of text.split("\n")) await this.#emit("note", line, 0);
  }

  /** Says which command begins. */
  async command(text: string): Promise<void> {
    const [first = "", ...rest] = text.trim().split("\n");
    await this.#emit("command", rest.length === 0 ? first : `${first} …`, 0);
  }

  /**
   * Writes what a pipe holds, line by line, until it ends.
   *
   * @param marker a line that ends with this is no output
   * @param onMarker is called, and waited for, for each of these
   * @param over from then on, the pipe has ended if nothing comes for a while: a process that left its
   *   sandbox may hold it forever
   */
  async copy(
    stream: "out" | "err",
    pipe: ReadableStream<Uint8Array>,
    { marker, onMarker, over }: {
      readonly marker: string;
      readonly onMarker: () => Promise<void>;
      readonly over: AbortSignal;
    },
  ): Promise<void> {
    const decoder = new TextDecoder();
    const line = new Line(MAX_LINE + this.#longestSecret);
    const end = async () => {
      const { text, cut } = line.take();
      if (!text.endsWith(marker)) return await this.#emit(stream, text, cut);
      const before = text.slice(0, -marker.length);
      if (before !== "") await this.#emit(stream, before, cut);
      await onMarker();
    };
    const add = async (text: string) => {
      let start = 0;
      for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", start)) {
        line.add(text.slice(start, at));
        start = at + 1;
        await end();
      }
      line.add(text.slice(start));
    };
    const reader = pipe.getReader();
    let rest = Buffer.alloc(0);
    for (;;) {
      const chunk = await nextOf(reader, over);
      if (chunk === null) break;
      this.#bytes += chunk.length;
      if (!this.#hasEnded) {
        await add(decoder.decode(chunk, { stream: true }));
        continue;
      }
      // What comes now is of interest for its markers alone.
      const around = Buffer.concat([rest, chunk]);
      if (around.includes(marker)) await add(`${decoder.decode(around)}\n`);
      rest = around.subarray(1 - marker.length);
    }
    await reader.cancel();
    await add(decoder.decode());
    if (!line.isEmpty) await end();
  }

  #hasEnded = false;

  /** @param cut how many characters of the line are not there */
  async #emit(stream: LogLine["stream"], given: string, cut: number): Promise<void> {
    const isOutput = stream === "out" || stream === "err";
    if (isOutput && this.#hasEnded) return;
    if (isOutput && this.#bytes > this.#limitBytes) {
      this.#hasEnded = true;
      const limit = Math.round(this.#limitBytes / 1024 / 1024);
      await this.#emit("note", `The output is cut here: the check may print ${limit} MB`, 0);
      return;
    }
    const text = shortened(this.#mask(given.endsWith("\r") ? given.slice(0, -1) : given), cut);
    await this.#write({ at: Math.round(performance.now() - this.#start), stream, text });
  }
}

/** What comes next; null if the pipe has ended, or if nothing came for a while since the signal. */
async function nextOf(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  over: AbortSignal,
): Promise<Uint8Array | null> {
  const { promise: late, resolve } = Promise.withResolvers<null>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const wait = () => timer = setTimeout(() => resolve(null), DRAIN_MS);
  if (over.aborted) wait();
  over.addEventListener("abort", wait);
  try {
    return await Promise.race([reader.read().then(({ value }) => value ?? null), late]);
  } finally {
    clearTimeout(timer);
    over.removeEventListener("abort", wait);
  }
}

function shortened(text: string, cut: number): string {
  if (cut === 0 && text.length <= MAX_LINE) return text;
  const kept = text.slice(0, MAX_LINE - CUT_WORDS).toWellFormed();
  return `${kept} … [${cut + text.length - kept.length} more characters are cut]`;
}

/** The beginning of a line, and the end of what a marker may be in. */
class Line {
  readonly #most: number;
  #text = "";
  #cut = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get isEmpty(): boolean {
    return this.#text === "" && this.#cut === 0;
  }

  add(text: string): void {
    const room = this.#most - this.#text.length;
    this.#text += text.slice(0, room);
    this.#cut += Math.max(0, text.length - room);
  }

  take(): { text: string; cut: number } {
    const taken = { text: this.#text, cut: this.#cut };
    this.#text = "";
    this.#cut = 0;
    return taken;
  }
}

/** The secrets as they may be printed, the longest first: each of their lines, also in Base64. */
function hiddenTexts(secrets: readonly string[]): string[] {
  const lines = secrets.flatMap((secret) => [secret, ...secret.split(/\r?\n/)])
    .map((line) => line.trim())
    .filter(({ length }) => length >= SHORTEST_SECRET);
  const hidden = new Set(lines.flatMap((line) => [line, ...base64Forms(line)]));
  return [...hidden].sort((a, b) => b.length - a.length);
}

/** What stands for a text in Base64, wherever in the encoded text it begins. */
function base64Forms(text: string): string[] {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length < 6) return []; // Its forms are too short to be told from other texts.
  return [0, 1, 2].map((before) => {
    const padded = new Uint8Array(before + bytes.length);
    padded.set(bytes, before);
    const encoded = Buffer.from(padded).toString("base64");
    // The characters that also depend on the bytes before and after it are not its own.
    const first = Math.ceil(before * 8 / 6);
    const last = Math.floor((before + bytes.length) * 8 / 6);
    return encoded.slice(first, last);
  });
}
