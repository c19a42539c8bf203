import assert from "node:assert/strict";
import { denoWords } from "../../../cli/clients/install.ts";

Deno.test("a Deno that npx keeps in its cache is run through npx, another one by its path", () => {
  const npx = ["npx", "--yes", `deno@${Deno.version.deno}`];
  assert.deepEqual(denoWords("/root/.npm/_npx/0c4a8d/node_modules/@deno/linux-x64/deno"), npx);
  assert.deepEqual(denoWords("C:\\Users\\ann\\npm-cache\\_npx\\0c4a8d\\deno.exe"), npx);
  assert.deepEqual(denoWords("/home/ann/.deno/bin/deno"), ["/home/ann/.deno/bin/deno"]);
  assert.deepEqual(denoWords("/home/ann/my_npx/deno"), ["/home/ann/my_npx/deno"]);
});
