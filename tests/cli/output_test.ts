import assert from "node:assert/strict";
import { cut, pad, widthOf } from "../../cli/command_line/mod.ts";
import { join } from "node:path";
import { calledAs, visible } from "../../cli/output.ts";
import { escapeControls } from "../../cli/log_format.ts";
import { amount } from "../../services/kernel/words.ts";
import { withFolder } from "../support/temporary.ts";

Deno.test("widthOf counts the cells of a terminal", () => {
  const table: [text: string, width: number][] = [
    ["", 0],
    ["muster", 6],
    ["naïve", 5],
    ["cafe\u0301", 4],
    ["日本語", 6],
    ["한국", 4],
    ["👍", 2],
    ["👩‍💻", 2],
    ["❤️", 2],
    ["🇩🇪", 2],
  ];
  for (const [text, width] of table) assert.equal(widthOf(text), width, text);
});

Deno.test("cut and pad bring a text to a number of cells", () => {
  assert.equal(cut("muster", 6), "muster");
  assert.equal(cut("muster", 5), "must…");
  assert.equal(cut("日本語", 5), "日本…");
  assert.equal(cut("日本語", 4), "日…");
  assert.equal(pad("日本", 6), "日本  ");
});

Deno.test("amount() puts the noun into the plural unless there is one", () => {
  assert.equal(amount(0, "tag"), "0 tags");
  assert.equal(amount(1, "branch", "branches"), "1 branch");
  assert.equal(amount(2, "branch", "branches"), "2 branches");
});

Deno.test("calledAs() names an executable that PATH leads to, and otherwise its path", async () => {
  await withFolder(async (folder) => {
    const [tools, others] = [join(folder, "my tools"), join(folder, "others")];
    for (const place of [tools, others]) {
      await Deno.mkdir(place);
      await Deno.writeTextFile(join(place, "muster"), place);
    }
    const executable = join(tools, "muster");
    const table: [stands: string, path: string, called: string][] = [
      [folder, `/nowhere:${tools}:${others}`, "muster"],
      [tools, "/nowhere", "./muster"],
      [folder, "", `'${executable}'`],
      [tools, `${others}:${tools}`, "./muster"],
    ];
    for (const [stands, path, called] of table) {
      assert.equal(calledAs(executable, stands, path), called);
    }
    const link = join(folder, "muster");
    await Deno.symlink(executable, link);
    assert.equal(calledAs(executable, others, folder), "muster");
  });
});

Deno.test("a terminal gets nothing that it obeys, and JSON keeps its value", () => {
  const obeyed = [
    0x0,
    0x7,
    0x1b,
    0x7f,
    0x9b,
    0x61c,
    0x200f,
    0x2028,
    0x202a,
    0x202e,
    0x2066,
    0x2069,
  ];
  for (const code of obeyed) {
    const text = `a${String.fromCodePoint(code)}b`;
    for (const shown of [visible(text), escapeControls(text)]) {
      assert.ok(!shown.includes(String.fromCodePoint(code)), code.toString(16));
    }
    assert.equal(JSON.parse(escapeControls(JSON.stringify(text))), text);
  }
  assert.equal(visible("é 👩‍💻 می‌خواهم"), "é 👩‍💻 می‌خواهم");
});
