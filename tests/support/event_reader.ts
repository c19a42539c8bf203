/** Reads an event stream as its client does. */
import assert from "node:assert/strict";
import { within } from "./until.ts";

/** One event of a stream. */
export interface Frame {
  readonly id: number;
  readonly event: string;
  readonly data: Record<string, unknown>;
}

/** An open event stream. */
export class EventReader {
  readonly #reader: ReadableStreamDefaultReader<string>;
  #rest = "";

  constructor(response: Response) {
    assert.equal(response.status, 200);
    assert.equal(response.headers.get("content-type"), "text/event-stream");
    assert.equal(response.headers.get("cache-control"), "no-store");
    assert.ok(response.body);
    this.#reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  }

  /**
   * The next text of the stream as it comes, or null if the stream has ended.
   *
   * @throws Error if neither comes in time
   */
  async text(): Promise<string | null> {
    const { value, done } = await within(this.#reader.read(), () => "More of the stream");
    return done ? null : value;
  }

  /**
   * The next event, or null if the stream has ended.
   *
   * @throws Error if neither comes in time
   */
  async next(): Promise<Frame | null> {
    let end: number;
    while ((end = this.#rest.indexOf("\n\n")) < 0) {
      const text = await this.text();
      if (text === null) return null;
      this.#rest += text;
    }
    const frame = this.#rest.slice(0, end);
    this.#rest = this.#rest.slice(end + 2);
    const match = /^id: (\d+)\nevent: (\S+)\ndata: (.*)$/.exec(frame);
    assert.ok(match, frame);
    return { id: Number(match[1]), event: match[2] ?? "", data: JSON.parse(match[3] ?? "") };
  }

  async take(count: number): Promise<(readonly [number, string])[]> {
    const taken: (readonly [number, string])[] = [];
    while (taken.length < count) {
      const frame = await this.next();
      assert.ok(frame);
      taken.push([frame.id, frame.event]);
    }
    return taken;
  }

  cancel(): Promise<void> {
    return this.#reader.cancel();
  }
}
