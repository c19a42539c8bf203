import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import { Output } from "../../runner/executor/mod.ts";
import { type LogLine, MAX_LINE } from "../../services/work/runs/assignment.ts";

/** The lines that chunks of bytes become. */
async function linesOf(
  chunks: readonly Uint8Array[],
  { secrets = [], limitBytes = Infinity }: { secrets?: string[]; limitBytes?: number } = {},
): Promise<LogLine[]> {
  const lines: LogLine[] = [];
  const output = new Output({ secrets, limitBytes, write: (line) => void lines.push(line) });
  const pipe = ReadableStream.from(chunks) as ReadableStream<Uint8Array>;
  const rest = { marker: "-marker-", onMarker: () => output.command("next") };
  await output.copy("out", pipe, { ...rest, over: new AbortController().signal });
  return lines;
}

const bytes = (text: string) => new TextEncoder().encode(text);

/** The chunks of bytes, cut at places. */
function cutAt(all: Uint8Array, places: readonly number[]): Uint8Array[] {
  const ends = [...places.map((place) => place % (all.length + 1)), all.length].sort((a, b) =>
    a - b
  );
  return ends.map((end, index) => all.slice(ends[index - 1] ?? 0, end));
}

Deno.test("lines are the same however the bytes come", async () => {
  const text = fc.array(fc.constantFrom("a", "ü", "😀", "\n", "\r\n", "\x1b[1m", "hunter22"), {
    maxLength: 40,
  });
  await fc.assert(
    fc.asyncProperty(text, fc.array(fc.nat(), { maxLength: 9 }), async (all, cuts) => {
      const whole = all.join("");
      const lines = await linesOf(cutAt(bytes(whole), cuts), { secrets: ["hunter22"] });
      const expected = whole.replaceAll("hunter22", "***").split("\n");
      if (expected.at(-1) === "") expected.pop();
      assert.deepEqual(
        lines.map((line) => line.text),
        expected.map((line) => line.replace(/\r$/, "")),
      );
    }),
  );
});

Deno.test("bytes that are no UTF-8 are shown as such, and lose no line", async () => {
  const lines = await linesOf([new Uint8Array([65, 0xff, 0xc3, 10, 66, 0, 67, 0xe2, 0x82])]);
  assert.deepEqual(lines.map(({ text }) => text), ["A\ufffd\ufffd", "B\0C\ufffd"]);
});

Deno.test("a line of any length is cut, and says by how much", async () => {
  for (const length of [MAX_LINE, MAX_LINE + 1, 1_000_000]) {
    const [line, last] = await linesOf([bytes("x".repeat(length)), bytes("\nend")]);
    assert.ok((line?.text.length ?? 0) <= MAX_LINE);
    assert.equal(last?.text, "end");
    if (length === MAX_LINE) assert.equal(line?.text, "x".repeat(length));
    else {
      const [, kept = "", cut] =
        /^(x+) … \[(\d+) more characters are cut\]$/.exec(line?.text ?? "") ?? [];
      assert.equal(kept.length + Number(cut), length);
    }
  }
});

Deno.test("no secret is shown, whole, by its lines or in Base64", async () => {
  const secret = fc.string({ minLength: 6, maxLength: 40, unit: "grapheme-ascii" })
    .map((text) => `s${text.trim()}e`).filter((text) => text.length >= 6);
  await fc.assert(
    fc.asyncProperty(secret, fc.string(), fc.nat({ max: 5 }), async (one, more, at) => {
      const before = more.replaceAll(/\s/g, "").slice(0, at);
      const encoded = Buffer.from(`${before}${one}${more}`).toString("base64");
      const lines = await linesOf([bytes(`${before}${one}\n${encoded}\n`)], { secrets: [one] });
      const text = lines.map((line) => line.text).join("\n");
      assert.ok(!text.includes(one), text);
      for (const skipped of [0, 1, 2, 3]) {
        const decoded = Buffer.from(
          (lines[1]?.text ?? "").replaceAll("***", "").slice(skipped),
          "base64",
        );
        assert.ok(!decoded.toString("latin1").includes(one), text);
      }
    }),
  );
});

Deno.test("each line of a long secret is hidden, and a short secret is not", async () => {
  const key = "-----BEGIN KEY-----\nabcdefgh\nijklmnop\n-----END KEY-----\n";
  const lines = await linesOf([bytes("abcdefgh\nxx ijklmnop\nabc a\n")], { secrets: [key, "a"] });
  assert.deepEqual(lines.map(({ text }) => text), ["***", "xx ***", "abc a"]);
});

Deno.test("a secret at the end of a line's length is hidden, too", async () => {
  const text = `${"x".repeat(MAX_LINE - 4)}hunter22${"y".repeat(100)}`;
  const [line] = await linesOf([bytes(text)], { secrets: ["hunter22"] });
  assert.doesNotMatch(line?.text ?? "", /hunt/);
});

Deno.test("a marker is no output, also after a line without an end", async () => {
  const lines = await linesOf([bytes("-marker-\none-mar"), bytes("ker-\ntwo")]);
  assert.deepEqual(lines.map(({ stream, text }) => `${stream} ${text}`), [
    "command next",
    "out one",
    "command next",
    "out two",
  ]);
});
